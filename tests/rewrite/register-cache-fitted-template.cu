// The kernel is a template already.
// transform: register-cache 102
// applies: line 20
// fact: d high 500
// has: template <int STEPS, typename T, int THREADS>
// has: work_keep<2, float, 256><<<n, threads, 0, stream>>>
// has: work<float, 256><<<n, threads, 0, stream>>>
#include <cstdint>

template <typename T, int THREADS>
__global__ void work(T *out, const T *in, int n, int d)
{
    int row = blockIdx.x * d;
    T sum = 0;
    for (int i = threadIdx.x; i < d; i += THREADS) {
        T value = in[row + i];
        sum += value;
    }
    /* the mean of each lane's part */
    for (int i = threadIdx.x; i < d; i += THREADS) {
        T value = in[row + i];
        out[row + i] = value * sum;
    }
}

extern "C" void entry(float *out, const float *in, int n, int d, cudaStream_t stream)
{
    work<float, 256><<<n, 256, 0, stream>>>(out, in, n, d);
}
