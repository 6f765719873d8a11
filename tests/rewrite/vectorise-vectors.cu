// Two halfs at a time become eight; what all elements ask of the bias is asked once.
// transform: vectorise 16
// applies: line 19
// has: packed<half2, 4> to_v = packed_load<4>(&to[i]);
// has: packed<half2, 4> from_v;
// has: if (bias != nullptr)
// has: from_v = packed_load<4>(&from[i % d]);
// has: value = __hadd2(value, from_v.at[k]);
// has: to_v.at[k].x = value.x;
// has: (uintptr_t)out % 16 == 0 && (uintptr_t)bias % 16 == 0
// has: n * (d / 2) + (int64_t)blocks * 256 * 4 <= 2147483647
// has: work_vec4<<<blocks, 256, 0, stream>>>
#include <cuda_fp16.h>

__global__ void work(half *out, const half *bias, int n, int d)
{
    half2 *to = (half2 *)out;
    const half2 *from = reinterpret_cast<const half2 *>(bias);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * d; i += blockDim.x * gridDim.x) {
        half2 value = to[i];
        if (bias != nullptr) {
            value = __hadd2(value, from[i % d]);
        }
        to[i].x = value.x;
        to[i].y = __hadd(value.y, value.x);
    }
}

extern "C" void entry(half *out, const half *bias, int n, int d, int blocks, cudaStream_t stream)
{
    work<<<blocks, 256, 0, stream>>>(out, bias, n, d / 2);
}
