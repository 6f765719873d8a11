// expect: correct
// Four places a thread; each answer is put by an atomic exchange, whose result nobody reads.
template <int N> struct run { int at[N]; };

template <int N> __global__ void __launch_bounds__(128) invert_kernel(int *__restrict__ out, const int *__restrict__ order, int n)
{
    int *to = out + (size_t)blockIdx.x * n;
    const run<N> *from = reinterpret_cast<const run<N> *>(order + (size_t)blockIdx.x * n);
    for (int i = threadIdx.x + blockIdx.y * 128; i < n / N; i += gridDim.y * 128) {
        const run<N> r = from[i];
#pragma unroll
        for (int j = 0; j < N; j++)
            atomicExch(to + r.at[j], i * N + j);
    }
}

extern "C" void invert(int *out, const int *order, int rows, int n, cudaStream_t stream)
{
    const int blocks = (n + 1023) / 1024;
    switch (n & 3) {
    case 0:
        invert_kernel<4><<<dim3(rows, blocks), 128, 0, stream>>>(out, order, n);
        break;
    case 2:
        invert_kernel<2><<<dim3(rows, blocks), 128, 0, stream>>>(out, order, n);
        break;
    default:
        invert_kernel<1><<<dim3(rows, blocks), 128, 0, stream>>>(out, order, n);
    }
}
