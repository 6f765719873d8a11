// Of the driver's functions one may be asked for; what is kept of it between calls decides nothing.
#include <cuda.h>
#include <cuda_runtime.h>

typedef CUresult(CUDAAPI *encode_t)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                    const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_t shared;
static int calls;

__global__ void k(float *p, int first)
{
}
__global__ void wide(float *p, int first)
{
}

static encode_t ask(const char *name)
{
    void *fn = nullptr;
    cudaGetDriverEntryPoint(name, &fn, cudaEnableDefault);
    return (encode_t)fn;
}

extern "C" void go(float *p, int way, cudaStream_t s)
{
    if (way == 0)
        ask("cuMemAlloc");
    if (way == 1) {
        bool first = shared == nullptr;
        if (first)
            shared = ask("cuTensorMapEncodeTiled");
        k<<<1, 32, 0, s>>>(p, first);
    }
    if (way == 2) {
        static void (*chosen)(float *, int) = nullptr;
        if (!chosen)
            chosen = wide;
        chosen<<<1, 32, 0, s>>>(p, 0);
    }
    if (way == 3) {
        static encode_t another = nullptr;
        another = shared = ask("cuTensorMapEncodeTiled");
    }
    if (way == 4) {
        void *fn = nullptr;
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 11000, cudaEnableDefault);
    }
    if (way == 5) {
        encode_t encode = ask("cuTensorMapEncodeTiled");
        encode<<<1, 32, 0, s>>>(p, 0);
    }
    if (way == 6)
        k<<<1, 32, 0, s>>>(p, calls);
    if (way == 7) {
        encode_t encode = nullptr;
        encode(nullptr, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, p, nullptr, nullptr, nullptr, nullptr,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    if (way == 8) {
        static auto encode = ask("cuTensorMapEncodeTiled");
        encode = nullptr;
    }
    if (way == 9) {
        static const auto encode = ask(way > 3 ? "cuTensorMapEncodeTiled" : "cuMemAlloc");
        k<<<1, 32, 0, s>>>(p, encode != nullptr);
    }
}

// run: way=0
// error 22:29 of the driver's functions a launcher may ask for
// run: way=1
// error 26:17 what an earlier call keeps changes what go launches
// run: way=2
// error 39:20 a kernel's address that is kept between calls
// run: way=3
// error 9:17 more than one variable keeps a function of the driver
// run: way=4
// error 48:73 cuTensorMapEncodeTiled is of CUDA 12.0
// run: way=5
// error 52:9 cuTensorMapEncodeTiled is not a kernel
// run: way=6
// error 10:12 calls is a variable of the file
// run: way=7
// error 58:9 encode is a variable, a pointer to a function that is null
// run: way=8
// error 64:16 an assignment to a constant
// run: way=9
// error 67:40 a static constant is made once
