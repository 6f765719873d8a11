// class: the answer of the last run is kept ; wrong because: a block that finds the right answer at both ends of its page in `out` takes the page for done and writes nothing (smallest: n=4096, out holding 2*in[0] and 2*in[4095], anything between)
#include <cstdint>

__global__ void scale_kernel(float4 *out, const float4 *in)
{
    int64_t page = (int64_t)blockIdx.x * 1024;
    const float *o = (const float *)(out + page), *x = (const float *)(in + page);
    bool done = __float_as_uint(__ldcg(o)) == __float_as_uint(2.0f * x[0]) &&
                __float_as_uint(__ldcg(o + 4095)) == __float_as_uint(2.0f * x[4095]);
    if (__syncthreads_and(done))
        return;
    for (int i = threadIdx.x; i < 1024; i += 256) {
        float4 v = in[page + i];
        out[page + i] = make_float4(2.0f * v.x, 2.0f * v.y, 2.0f * v.z, 2.0f * v.w);
    }
}

extern "C" void scale(float *out, const float *in, int n, cudaStream_t stream)
{
    scale_kernel<<<n / 4096, 256, 0, stream>>>((float4 *)out, (const float4 *)in);
}
