/* Attention of CUTLASS's Hopper example (88_hopper_fmha): f16, sums in f32, warp-specialised by TMA and wgmma, the
 * warpgroups in turns (ping-pong) and persistent, or side by side (cooperative). */
#include "record.h"

#include "cute/tensor.hpp"
#include "cutlass/cutlass.h"
#include "cutlass/kernel_hardware_info.h"

#include "collective/fmha_fusion.hpp"
#include "device/device_universal.hpp"
#include "kernel/fmha_kernel_builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace cute;
using f16 = cutlass::half_t;
namespace fmha = cutlass::fmha;

struct heads {
    int batch, heads, queries, keys;
};

/* O and the logarithms of the sums, by head: [batch][head][query]. */
static void reference(heads s, int dim, bool causal, const std::vector<f16> &q, const std::vector<f16> &k,
                      const std::vector<f16> &v, std::vector<f16> &o, std::vector<float> &lse)
{
    double scale = 1 / std::sqrt(double(dim));
    for (int b = 0; b < s.batch * s.heads; b++)
        for (int i = 0; i < s.queries; i++) {
            size_t row = size_t(b) * s.queries + i;
            int end = causal ? std::min(s.keys, i + 1) : s.keys;
            std::vector<double> p(end), to(dim);
            double most = -INFINITY, sum = 0;
            for (int j = 0; j < end; j++) {
                for (int d = 0; d < dim; d++)
                    p[j] += double(float(q[row * dim + d])) * float(k[(size_t(b) * s.keys + j) * dim + d]);
                most = std::max(most, p[j] *= scale);
            }
            for (double &x : p)
                sum += x = std::exp(x - most);
            for (int j = 0; j < end; j++)
                for (int d = 0; d < dim; d++)
                    to[d] += p[j] / sum * float(v[(size_t(b) * s.keys + j) * dim + d]);
            for (int d = 0; d < dim; d++)
                o[row * dim + d] = f16(float(to[d]));
            lse[row] = float(most + std::log(sum));
        }
}

template <class Tile, class Schedule, class Fusion> static void run(const char *name, heads s)
{
    using Stride = tuple<int, _1, tuple<int, int>>;
    using Operation = cutlass::device::Universal<typename fmha::kernel::FmhaBuilder<
        f16, float, float, Tile, Stride, Stride, Stride, Fusion, Schedule>::Kernel>;
    const int dim = size<2>(Tile{});
    const size_t rows = size_t(s.batch) * s.heads * s.queries, keys = size_t(s.batch) * s.heads * s.keys;
    record::begin(name);
    record::numbers r(7);
    auto draw = [&](size_t n) {
        std::vector<f16> v(n);
        for (f16 &x : v)
            x = f16(r.any());
        return v;
    };
    auto q = draw(rows * dim), k = draw(keys * dim), v = draw(keys * dim);
    std::vector<f16> o(rows * dim);
    std::vector<float> lse(rows);
    reference(s, dim, std::is_same<Fusion, fmha::collective::CausalFusion>::value, q, k, v, o, lse);
    f16 *on_q = record::buffer("q", q), *on_k = record::buffer("k", k), *on_v = record::buffer("v", v);
    f16 *on_o = static_cast<f16 *>(record::buffer("o", o.size() * sizeof(f16), nullptr));
    float *on_lse = static_cast<float *>(record::buffer("lse", lse.size() * sizeof(float), nullptr));
    auto stride = [&](int n) {
        return make_stride(dim, _1{}, make_stride(s.heads * n * dim, n * dim));
    };
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = 132;
    typename Operation::Arguments arguments{
        make_tuple(s.batch, s.heads, s.queries, s.keys, dim),
        {on_q, stride(s.queries), on_k, stride(s.keys), on_v, stride(s.keys)},
        {on_o, stride(s.queries), on_lse, make_stride(_1{}, make_stride(s.heads * s.queries, s.queries))},
        hardware};
    Operation op;
    if (Operation::get_workspace_size(arguments) || op.can_implement(arguments) != cutlass::Status::kSuccess ||
        op.initialize(arguments) != cutlass::Status::kSuccess || op.run() != cutlass::Status::kSuccess) {
        fprintf(stderr, "%s: CUTLASS refuses it\n", name);
        exit(1);
    }
    record::want("o", "f16", o.data(), o.size() * sizeof(f16), 0x1p-9);
    record::want("lse", "f32", lse.data(), lse.size() * sizeof(float), 0x1p-14);
    record::end();
}

int main(int argc, char **argv)
{
    using PingPong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using Full = fmha::collective::DefaultFusion;
    using Causal = fmha::collective::CausalFusion;
    using Ragged = fmha::collective::ResidualFusion;
    record::open(argc, argv);
    run<Shape<_128, _128, _128>, PingPong, Full>("fmha_pingpong_128", {1, 2, 256, 384});
    run<Shape<_128, _64, _64>, PingPong, Causal>("fmha_pingpong_64_causal", {1, 2, 256, 256});
    run<Shape<_128, _64, _64>, Cooperative, Ragged>("fmha_cooperative_64_ragged", {2, 1, 200, 333});
    return 0;
}
