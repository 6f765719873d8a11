// RIGHT: sums modulo 2^32 in any order: four numbers a thread, a scan by shuffles in each warp, one of the warps' sums by the first warp; two sets of shared words by turns save a barrier a turn.
#include <cstdint>

constexpr int T = 512, N = 4;


__global__ void cumsum_kernel(unsigned *__restrict__ out, const unsigned *__restrict__ in, int d)
{
    __shared__ unsigned warps[2][T / 32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, turn = 0;
    int64_t row = (int64_t)blockIdx.x * d;
    bool whole = (d & 3) == 0;
    unsigned before = 0;
    for (int64_t first = 0; first < d; first += T * N, turn ^= 1) {
        int64_t at = first + threadIdx.x * N;
        unsigned v[N] = {};
        if (whole) {
            if (at < d) {
                uint4 w = *(const uint4 *)(in + row + at);
                v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
            }
        } else
            for (int k = 0; k < N; k++)
                if (at + k < d)
                    v[k] = in[row + at + k];
        v[1] += v[0];
        v[2] += v[1];
        v[3] += v[2];
        unsigned up = v[3];
#pragma unroll
        for (int s = 1; s < 32; s <<= 1) {
            unsigned o = __shfl_up_sync(~0u, up, s);
            up += lane >= s ? o : 0;
        }
        if (lane == 31)
            warps[turn][warp] = up;
        __syncthreads();
        unsigned mine = warps[turn][lane & 15], below = lane < warp ? mine : 0, all = lane < 16 ? mine : 0;
        below = __reduce_add_sync(~0u, lane < 16 ? below : 0);
        all = __reduce_add_sync(~0u, all);
        unsigned ahead = before + below + up - v[3];
        before += all;
        if (whole) {
            if (at < d)
                *(uint4 *)(out + row + at) = make_uint4(ahead + v[0], ahead + v[1], ahead + v[2], ahead + v[3]);
        } else
            for (int k = 0; k < N; k++)
                if (at + k < d)
                    out[row + at + k] = ahead + v[k];
    }
}

extern "C" void cumsum_rows(unsigned *out, const unsigned *in, int rows, int d, cudaStream_t stream)
{
    cumsum_kernel<<<rows, T, 0, stream>>>(out, in, d);
}
