// expect: unsafe words no fence orders the write before what told of it
// row 15: A block's sum and its flag go to the other block's shared memory by st.relaxed both: the flag may come first.
#include <cstdint>

// Two blocks of a cluster for a row; the second one leaves its sum in the first one's shared memory.
__device__ __forceinline__ unsigned there(const void *p, unsigned rank)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(p);
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(a) : "r"(rank));
    return a;
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256) sum_kernel(float *out, const float *__restrict__ in, int d)
{
    __shared__ double s[8], other;
    __shared__ unsigned come;
    unsigned rank = blockIdx.x % 2;
    const float *x = in + (size_t)(blockIdx.x / 2) * d;
    if (threadIdx.x == 0)
        come = 0, other = 0;
    double sum = 0;
    for (int i = rank * 256 + threadIdx.x; i < d; i += 512)
        sum += x[i];
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = sum;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        sum = 0;
        for (int w = 0; w < 8; w++)
            sum += s[w];
        if (rank == 1) {
            asm volatile("st.relaxed.cluster.shared::cluster.f64 [%0], %1;" ::"r"(there(&other, 0)), "d"(sum) : "memory");
            asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(there(&come, 0)), "r"(1) : "memory");
        } else {
            unsigned seen;
            double more;
            do
                asm volatile("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(there(&come, 0)) : "memory");
            while (!seen);
            asm volatile("ld.relaxed.cluster.shared::cluster.f64 %0, [%1];" : "=d"(more) : "r"(there(&other, 0)) : "memory");
            out[blockIdx.x / 2] = (float)(sum + more);
        }
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" void double_sum(float *out, const float *in, int rows, int d, cudaStream_t stream)
{
    sum_kernel<<<2 * rows, 256, 0, stream>>>(out, in, d);
}
