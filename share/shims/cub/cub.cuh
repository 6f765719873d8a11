// Astra's stand-in: what of CUB device code uses. The rest launches kernels of its own, which this compiler refuses.
#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

#if CUB_VERSION >= 300000
// What CUB had until then, and code written for it says.
namespace cub {
struct Sum {
    template <typename T, typename U> __host__ __device__ constexpr auto operator()(const T &a, const U &b) const
    {
        return a + b;
    }
};
struct Max {
    template <typename T, typename U> __host__ __device__ constexpr auto operator()(const T &a, const U &b) const
    {
        return a < b ? b : a;
    }
};
struct Min {
    template <typename T, typename U> __host__ __device__ constexpr auto operator()(const T &a, const U &b) const
    {
        return b < a ? b : a;
    }
};
struct Equality {
    template <typename T, typename U> __host__ __device__ constexpr bool operator()(const T &a, const U &b) const
    {
        return a == b;
    }
};
struct Inequality {
    template <typename T, typename U> __host__ __device__ constexpr bool operator()(const T &a, const U &b) const
    {
        return a != b;
    }
};
} // namespace cub
#endif
