// Which algorithm CUB is to take, as a template's argument.
#include <cub/cub.cuh>

namespace sampling {
using namespace cub;
constexpr BlockScanAlgorithm SCAN = BLOCK_SCAN_WARP_SCANS;

template <int THREADS, BlockScanAlgorithm SCAN_ALGORITHM, cub::BlockLoadAlgorithm LOAD> __global__ void k(int n)
{
}
} // namespace sampling

extern "C" void go(int n, cudaStream_t stream)
{
    constexpr auto load = cub::BLOCK_LOAD_WARP_TRANSPOSE;
    sampling::k<128, sampling::SCAN, load><<<1, 128, 0, stream>>>(n);
}

// run: n=1
// launch sampling::k<128, (cub::BlockScanAlgorithm)2, (cub::BlockLoadAlgorithm)4> (1,1,1) (128,1,1) 0 [1:i32]
