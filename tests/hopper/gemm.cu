/* Products of CUTLASS for Hopper, as its builder makes them: D = A * B + C / 2, C and D of f16 by rows, A and B
 * of one type by rows or by columns, sums in f32. Tiles come by TMA and are shared by a cluster's blocks; warps are
 * specialised (cooperative and ping-pong), the kernels persistent. */
#include "record.h"

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace cute;
using f16 = cutlass::half_t;

using rows = cutlass::layout::RowMajor;
using columns = cutlass::layout::ColumnMajor;

template <class T, class A, class B, class Tile, class Cluster, class Schedule, class EpilogueSchedule,
          class Scheduler = void>
struct matmul {
    using Element = T;
    using LayoutA = A;
    using LayoutB = B;
    static constexpr int alignment = 16 / sizeof(T);
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, f16, rows, 8, f16, rows, 8,
        EpilogueSchedule>::CollectiveOp;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, A, alignment, T, B, alignment, float,
        Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
            sizeof(typename Epilogue::SharedStorage))>,
        Schedule>::CollectiveOp;
    using Kernel =
        cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

struct problem {
    int m, n, k, batch;
};

template <class T> static std::vector<T> draw(size_t n, uint64_t seed, bool exact)
{
    record::numbers r(seed);
    std::vector<T> v(n);
    for (T &x : v)
        x = T(exact ? r.eighth() : r.any());
    return v;
}

/* The sums are exact where the numbers are eighths; else D, below 64, may be off by its last place. */
template <class P>
static std::vector<f16> reference(problem s, const std::vector<typename P::Element> &a,
                                  const std::vector<typename P::Element> &b, const std::vector<f16> &c)
{
    const bool a_rows = std::is_same<typename P::LayoutA, rows>::value;
    const bool b_rows = std::is_same<typename P::LayoutB, rows>::value;
    std::vector<f16> d(c.size());
    for (int l = 0; l < s.batch; l++)
        for (int i = 0; i < s.m; i++)
            for (int j = 0; j < s.n; j++) {
                size_t at = (size_t(l) * s.m + i) * s.n + j, in_a = size_t(l) * s.m * s.k,
                       in_b = size_t(l) * s.n * s.k;
                double sum = 0;
                for (int k = 0; k < s.k; k++)
                    sum += double(float(a[in_a + (a_rows ? size_t(i) * s.k + k : size_t(k) * s.m + i)])) *
                           float(b[in_b + (b_rows ? size_t(k) * s.n + j : size_t(j) * s.k + k)]);
                d[at] = f16(float(sum + 0.5 * float(c[at])));
            }
    return d;
}

template <class P> static void run(const char *name, problem s, bool exact)
{
    using Gemm = typename P::Gemm;
    using Kernel = typename P::Kernel;
    record::begin(name);
    size_t l = s.batch;
    auto a = draw<typename P::Element>(l * s.m * s.k, 1, exact), b = draw<typename P::Element>(l * s.n * s.k, 2, exact);
    auto c = draw<f16>(l * s.m * s.n, 3, exact), d = reference<P>(s, a, b, c);
    auto *on_a = record::buffer("a", a), *on_b = record::buffer("b", b);
    f16 *on_c = record::buffer("c", c);
    f16 *on_d = static_cast<f16 *>(record::buffer("d", d.size() * sizeof(f16), nullptr));
    auto stride = [&](auto of, int lines, int across) {
        return cutlass::make_cute_packed_stride(of, make_shape(lines, across, s.batch));
    };
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = 132;
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {s.m, s.n, s.k, s.batch},
                                       {on_a, stride(typename Kernel::StrideA{}, s.m, s.k), on_b,
                                        stride(typename Kernel::StrideB{}, s.n, s.k)},
                                       {{1.0f, 0.5f},
                                        on_c,
                                        stride(typename Kernel::StrideC{}, s.m, s.n),
                                        on_d,
                                        stride(typename Kernel::StrideD{}, s.m, s.n)},
                                       hardware};
    Gemm gemm;
    size_t workspace = Gemm::get_workspace_size(arguments);
    void *room = workspace ? record::buffer("workspace", workspace, nullptr) : nullptr;
    if (gemm.can_implement(arguments) != cutlass::Status::kSuccess ||
        gemm.initialize(arguments, room) != cutlass::Status::kSuccess ||
        gemm.run() != cutlass::Status::kSuccess) {
        fprintf(stderr, "%s: CUTLASS refuses it\n", name);
        exit(1);
    }
    record::want("d", "f16", d.data(), d.size() * sizeof(f16), exact ? 0 : 0x1p-5);
    record::end();
}

int main(int argc, char **argv)
{
    using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using PingPong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using Together = cutlass::epilogue::TmaWarpSpecializedCooperative;
    using Each = cutlass::epilogue::TmaWarpSpecialized;
    using cutlass::bfloat16_t;
    using Wide = Shape<_128, _128, _64>;
    using Narrow = Shape<_64, _128, _64>;
    using Pair = Shape<_2, _1, _1>;
    using SideBySide = matmul<f16, rows, columns, Wide, Pair, Cooperative, Together>;
    using InTurns = matmul<f16, rows, columns, Narrow, Pair, PingPong, Each>;
    using StreamK = matmul<f16, rows, columns, Wide, Shape<_1, _2, _1>, Cooperative, Together,
                           cutlass::gemm::StreamKScheduler>;
    using Turned = matmul<bfloat16_t, columns, rows, Wide, Shape<_2, _2, _1>, Cooperative, Together>;
    using Bytes = matmul<cutlass::float_e4m3_t, rows, columns, Shape<_64, _128, _128>, Pair,
                         cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8FastAccum, Each>;
    record::open(argc, argv);
    run<SideBySide>("gemm_cooperative", {256, 256, 128, 1}, true);
    run<SideBySide>("gemm_cooperative_ragged", {200, 136, 72, 2}, true);
    run<SideBySide>("gemm_cooperative_rounded", {256, 128, 512, 1}, false);
    run<InTurns>("gemm_pingpong", {256, 256, 128, 1}, true);
    run<InTurns>("gemm_pingpong_ragged", {200, 136, 72, 2}, true);
    run<StreamK>("gemm_stream_k", {128, 256, 1024, 1}, true);
    run<Turned>("gemm_bf16_turned", {264, 328, 136, 1}, true);
    run<Bytes>("gemm_e4m3", {192, 144, 208, 1}, true);
    return 0;
}
