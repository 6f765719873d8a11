// expect: correct
// Vectors from the first aligned element on, odd rows included; goto, do/while, a switch with fall-through.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stddef.h>

__device__ __noinline__ __half one(__half x, __half y)
{
    float f = __half2float(x);
    return __float2half_rn(f / (1.0f + expf(-f)) * __half2float(y));
}

__global__ void kernel(__half *out, const __half *in, int d)
{
    const ptrdiff_t row = blockIdx.x;
    const __half *x = in + row * 2 * d, *y = x + d;
    __half *o = out + row * d;
    int i = threadIdx.x * 4, n;

    if (i >= d)
        goto done;
    do {
        n = min(4, d - i);
        switch (n) {
        case 4:
            o[i + 3] = one(x[i + 3], y[i + 3]);
            /* fall through */
        case 3:
            o[i + 2] = one(x[i + 2], y[i + 2]);
            /* fall through */
        case 2:
            o[i + 1] = one(x[i + 1], y[i + 1]);
            /* fall through */
        default:
            o[i] = one(x[i], y[i]);
        }
        i += blockDim.x * 4;
    } while (i < d);
done:
    return;
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    kernel<<<dim3(rows), dim3(64), 0, stream>>>(out, in, d);
}
