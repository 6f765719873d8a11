// A runtime value chooses among types through a template helper; enum class in a switch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum class DType : int { kFloat = 0, kHalf, kBf16 };

template <typename T> __global__ void k(const T *in, T *out, long n)
{
}

template <typename T> inline void run(const void *in, void *out, long n, cudaStream_t stream)
{
    constexpr int vec = 16 / sizeof(T);
    const long blocks = (n / vec + 127) / 128;
    k<T><<<(unsigned)blocks, 128, 0, stream>>>(static_cast<const T *>(in), static_cast<T *>(out), n);
}

extern "C" void go(const void *in, void *out, long n, int dtype, cudaStream_t stream)
{
    switch (static_cast<DType>(dtype)) {
    case DType::kFloat: run<float>(in, out, n, stream); break;
    case DType::kHalf: run<half>(in, out, n, stream); break;
    case DType::kBf16: run<nv_bfloat16>(in, out, n, stream); break;
    default: break;
    }
}

// run: n=4096 dtype=0
// launch k<float> (8,1,1) (128,1,1) 0 [in, out, 4096:i64]
// run: n=4096 dtype=1
// launch k<__half> (4,1,1) (128,1,1) 0 [in, out, 4096:i64]
// run: n=4096 dtype=2
// launch k<__nv_bfloat16> (4,1,1) (128,1,1) 0 [in, out, 4096:i64]
// run: n=4096 dtype=3
// nothing
