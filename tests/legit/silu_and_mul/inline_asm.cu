// expect: correct
// Loads and stores in inline PTX.
#include <cuda_fp16.h>
#include <stdint.h>

#define LOG2E 1.4426950408889634f

static __device__ __forceinline__ uint4 load_nc(const void *p)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

static __device__ __forceinline__ void store_cs(void *p, uint4 v)
{
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

static __device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ float rcp_fast(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ __forceinline__ float gated(float x, float g)
{
    return x * rcp_fast(1.0f + exp2_fast(-x * LOG2E)) * g;
}

static __device__ __forceinline__ uint32_t gated2(uint32_t x, uint32_t g)
{
    union {
        uint32_t u;
        __half2 h;
    } a, b, r;
    a.u = x;
    b.u = g;
    float2 fa = __half22float2(a.h), fb = __half22float2(b.h);
    r.h = __float22half2_rn(make_float2(gated(fa.x, fb.x), gated(fa.y, fb.y)));
    return r.u;
}

__global__ void vec8(__half *out, const __half *in, int rows, int d)
{
    int groups = d >> 3;
    long long n = (long long)rows * groups;
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < n;
         k += (long long)gridDim.x * blockDim.x) {
        int row = (int)(k / groups), g = (int)(k % groups);
        const __half *p = in + (size_t)row * 2 * d + g * 8;
        uint4 x = load_nc(p), y = load_nc(p + d), r;
        r.x = gated2(x.x, y.x);
        r.y = gated2(x.y, y.y);
        r.z = gated2(x.z, y.z);
        r.w = gated2(x.w, y.w);
        store_cs(out + (size_t)row * d + g * 8, r);
    }
}

__global__ void scalar(__half *out, const __half *in, int rows, int d)
{
    long long n = (long long)rows * d;
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x; k < n;
         k += (long long)gridDim.x * blockDim.x) {
        long long row = k / d, i = k - row * d;
        out[k] = __float2half(gated(__half2float(in[row * 2 * d + i]), __half2float(in[row * 2 * d + d + i])));
    }
}

extern "C" void silu_and_mul(__half *out, const __half *in, int rows, int d, cudaStream_t stream)
{
    int device = 0, sms = 0, per_sm = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if ((d & 7) == 0) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, vec8, 256, 0);
        long long want = ((long long)rows * (d >> 3) + 255) / 256;
        int blocks = (int)(want < (long long)sms * per_sm ? want : (long long)sms * per_sm);
        vec8<<<blocks, 256, 0, stream>>>(out, in, rows, d);
    } else {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, scalar, 256, 0);
        long long want = ((long long)rows * d + 255) / 256;
        int blocks = (int)(want < (long long)sms * per_sm ? want : (long long)sms * per_sm);
        scalar<<<blocks, 256, 0, stream>>>(out, in, rows, d);
    }
}
