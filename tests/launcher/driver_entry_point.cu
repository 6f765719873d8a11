// cuTensorMapEncodeTiled as the runtime gives it: every usual way to keep it and to call it.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <cassert>
#include <cstdint>

typedef CUresult (*encode_t)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                             const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
using entry_t = decltype(&cuTensorMapEncodeTiled);

struct driver {
    entry_t encode;
    int version;
};

static PFN_cuTensorMapEncodeTiled_v12000 lazy = nullptr;

__global__ void k(const __grid_constant__ CUtensorMap map, int way)
{
}

static PFN_cuTensorMapEncodeTiled_v12000 by_version()
{
    cudaDriverEntryPointQueryResult found;
    void *fn = nullptr;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &found);
    assert(error == cudaSuccess && found == cudaDriverEntryPointSuccess);
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(fn);
}

static encode_t plainly()
{
    void *fn = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    if (cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &fn, cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess || !fn)
        return nullptr;
    return (encode_t)fn;
}

static bool ask(entry_t *to)
{
    return cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)to, cudaEnableDefault, nullptr) == cudaSuccess &&
           *to != nullptr;
}

template <typename F> static CUtensorMap describe(F encode, float *p, int n)
{
    cuuint64_t sizes[2] = {64, (cuuint64_t)n}, strides[1] = {256};
    cuuint32_t box[2] = {32, 8}, steps[2] = {1, 1};
    CUtensorMap map = {};
    CUresult r = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, sizes, strides, box, steps,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    assert(r == CUDA_SUCCESS);
    return map;
}

extern "C" void go(float *p, int n, int way, cudaStream_t s)
{
    CUtensorMap map;
    if (way == 0) {
        map = describe(by_version(), p, n);
    } else if (way == 1) {
        encode_t encode = plainly();
        if (!encode)
            return;
        map = describe(encode, p, n);
    } else if (way == 2) {
        static const auto encode = by_version();
        map = describe(encode, p, n);
    } else if (way == 3) {
        static encode_t encode = plainly();
        map = describe(encode, p, n);
    } else if (way == 4) {
        if (lazy == nullptr)
            lazy = by_version();
        map = describe(lazy, p, n);
    } else if (way == 5) {
        driver d = {};
        if (!ask(&d.encode))
            return;
        cuuint64_t sizes[1] = {(cuuint64_t)n};
        cuuint32_t box[1] = {32}, one[1] = {1};
        if (d.encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, p, sizes, nullptr, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
                     CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
            return;
    } else if (way == 6) {
        auto encode = &cuTensorMapEncodeTiled;
        map = describe(encode, p, n);
    }
    k<<<1, 32, 0, s>>>(map, way);
}

// run: n=100 way=0
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 0:i32]
// run: n=100 way=1
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 1:i32]
// run: n=100 way=2
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 2:i32]
// run: n=100 way=3
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 3:i32]
// run: n=100 way=4
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 4:i32]
// run: n=100 way=5
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=0:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=100:u64 @48=0:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=32:u64 @88=17235968:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 5:i32]
// run: n=100 way=6
// launch k (1,1,1) (32,1,1) 0 [{128 @0=p @8=256:u64 @16=0:u64 @24=0:u64 @32=0:u64 @40=64:u64 @48=100:u64 @56=0:u64 @64=0:u64 @72=0:u64 @80=524320:u64 @88=12918915072:u64 @96=0:u64 @104=0:u64 @112=0:u64 @120=1632457838:u64}, 6:i32]
