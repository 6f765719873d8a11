// Attention by the tensor cores, a block of threads for ROWS queries: it walks over the keys in tiles, with a running
// maximum and a running sum for each query. A warp keeps TILES times sixteen queries, their scores and their sums of
// values in registers; the next tile of keys and values comes into shared memory by asynchronous copies meanwhile. A
// row there has 16 bytes too many, so that the eight rows that a matrix is read from lie in different banks.

__device__ __forceinline__ float attention_none() // minus infinity, the score of a key that is not seen
{
    return __int_as_float(0xff800000);
}

__device__ __forceinline__ unsigned int attention_shared(const void *p)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

// A thread's share of ROWS vectors of D elements, WIDE with the zeros behind them, of which `rows` exist; the others
// are zero. `whole` says that 16 bytes may be copied as they are.
template <int ROWS, int D, int WIDE, int THREADS, typename T>
__device__ __forceinline__ void attention_fetch(T *to, const T *from, long long step, int rows, bool whole)
{
    constexpr int EACH = 16 / sizeof(T), CHUNKS = WIDE / EACH, ALL = ROWS * CHUNKS;
#pragma unroll
    for (int i = 0; i < (ALL + THREADS - 1) / THREADS; i++) {
        const int at = threadIdx.x + i * THREADS;
        if (ALL % THREADS != 0 && at >= ALL)
            break;
        const int row = at / CHUNKS, col = at % CHUNKS * EACH;
        T *const place = to + row * (WIDE + EACH) + col;
        if (whole) {
            const bool exists = row < rows && col < D;
            const int bytes = !exists ? 0 : D - col < EACH ? (D - col) * static_cast<int>(sizeof(T)) : 16;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(attention_shared(place)),
                         "l"(exists ? from + row * step + col : from), "r"(bytes)
                         : "memory");
        } else {
#pragma unroll
            for (int e = 0; e < EACH; e++)
                place[e] = row < rows && col + e < D ? from[row * step + col + e] : static_cast<T>(0.0f);
        }
    }
}

// Four 8 x 8 matrices of 16-bit elements.
template <bool TRANSPOSED>
__device__ __forceinline__ void attention_read(unsigned int (&m)[4], const void *from)
{
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                     : "r"(attention_shared(from))
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                     : "r"(attention_shared(from))
                     : "memory");
}

// Scores of a warp's queries with a tile of keys. `held` are the queries where they stay in registers.
template <int KEYS, int WIDE, int TILES, int HELD, typename T>
__device__ __forceinline__ void attention_scores(float (&s)[TILES][KEYS / 8][4], const T *qs, const T *ks,
                                                 const unsigned int (&held)[TILES][HELD][4])
{
    constexpr int LINE = WIDE + 8;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
            s[i][j][0] = s[i][j][1] = s[i][j][2] = s[i][j][3] = 0.0f;
    }
#pragma unroll
    for (int d = 0; d < WIDE / 16; d++) {
        unsigned int x[TILES][4];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            if (HELD > 1) {
#pragma unroll
                for (int e = 0; e < 4; e++)
                    x[i][e] = held[i][d % HELD][e];
            } else {
                attention_read<false>(x[i], qs + (i * 16 + lane % 16) * LINE + d * 16 + lane / 16 * 8);
            }
        }
#pragma unroll
        for (int j = 0; j < KEYS / 8; j += 2) {
            unsigned int y[4];
            attention_read<false>(y, ks + (j * 8 + lane / 16 * 8 + lane % 8) * LINE + d * 16 + lane / 8 % 2 * 8);
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                attention_add(s[i][j], x[i], y[0], y[1], static_cast<const T *>(nullptr));
                attention_add(s[i][j + 1], x[i], y[2], y[3], static_cast<const T *>(nullptr));
            }
        }
    }
}

// Sums += weights times values, the weights as their scores lie in registers.
template <int KEYS, int WIDE, int TILES, typename T>
__device__ __forceinline__ void attention_values(float (&o)[TILES][WIDE / 8][4], const float (&s)[TILES][KEYS / 8][4],
                                                 const T *vs)
{
    constexpr int LINE = WIDE + 8;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < KEYS / 16; j++) {
        unsigned int x[TILES][4];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                x[i][e] = attention_pair(s[i][j * 2 + e / 2][e % 2 * 2], s[i][j * 2 + e / 2][e % 2 * 2 + 1],
                                         static_cast<const T *>(nullptr));
        }
#pragma unroll
        for (int d = 0; d < WIDE / 8; d += 2) {
            unsigned int y[4];
            attention_read<true>(y, vs + (j * 16 + lane % 16) * LINE + d * 8 + lane / 16 * 8);
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                attention_add(o[i][d], x[i], y[0], y[1], static_cast<const T *>(nullptr));
                attention_add(o[i][d + 1], x[i], y[2], y[3], static_cast<const T *>(nullptr));
            }
        }
    }
}

__device__ __forceinline__ float attention_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Scores become weights, below the maximum so far; what was summed up before is told how much less it counts.
template <int KEYS, int WIDE, int TILES>
__device__ __forceinline__ void attention_weigh(float (&s)[TILES][KEYS / 8][4], float (&o)[TILES][WIDE / 8][4],
                                                float (&most)[TILES][2], float (&total)[TILES][2], float factor)
{
    float back[TILES][2];
    bool same = true;
#pragma unroll
    for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float m = most[i][h];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
                m = fmaxf(m, fmaxf(s[i][j][h * 2], s[i][j][h * 2 + 1]));
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
            const float top = m == attention_none() ? 0.0f : m;
            float base = top * factor;
            back[i][h] = attention_exp2((most[i][h] - top) * factor);
            same = same && back[i][h] == 1.0f;
            if (__any_sync(0xffffffffu, fabsf(base) > 1024.0f)) { // the product would round away what differs
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++) {
                    s[i][j][h * 2] -= top;
                    s[i][j][h * 2 + 1] -= top;
                }
                base = 0.0f;
            }
            most[i][h] = m;
            float sum = total[i][h] * back[i][h];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int e = h * 2; e < h * 2 + 2; e++) {
                    s[i][j][e] = attention_exp2(fmaf(s[i][j][e], factor, -base));
                    sum += s[i][j][e];
                }
            }
            total[i][h] = sum;
        }
    }
    if (__all_sync(0xffffffffu, same))
        return;
#pragma unroll
    for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int d = 0; d < WIDE / 8; d++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                o[i][d][e] *= back[i][e / 2];
        }
    }
}

// All of it. `out` and `q` point to the block's first query, of which `rows` exist. Query r sees the keys below
// `keys` and below r + diagonal. The factor of the scores may be of any sign.
template <int ROWS, int KEYS, int D, int TILES, bool ZERO, typename T, typename R>
__device__ __forceinline__ void attention_mma(unsigned char *memory, R *out, long long out_step, const T *q,
                                              long long q_step, const T *k, long long k_step, const T *v,
                                              long long v_step, long long rows, long long keys, long long diagonal,
                                              float scale)
{
    constexpr int WIDE = (D + 15) / 16 * 16, LINE = WIDE + 8, THREADS = ROWS / TILES * 2;
    constexpr int HELD = TILES * WIDE <= 128 ? WIDE / 16 : 1;
    T *const qs = reinterpret_cast<T *>(memory), *const ks = qs + ROWS * LINE, *const vs = ks + 2 * KEYS * LINE;
    const unsigned long long steps = static_cast<unsigned long long>(q_step | k_step | v_step) * sizeof(T);
    const bool whole = (reinterpret_cast<unsigned long long>(q) | reinterpret_cast<unsigned long long>(k) |
                        reinterpret_cast<unsigned long long>(v) | steps) % 16 == 0;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * TILES * 16;
    const int here = rows < ROWS ? static_cast<int>(rows) : ROWS;
    // Of the block's first query, of its last and of the warp's last: how many keys each sees.
    const long long ends[3] = {diagonal, here - 1 + diagonal, row + TILES * 16 - 1 + diagonal};
    int end[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        end[i] = static_cast<int>(ends[i] < 0 ? 0 : ends[i] < keys ? ends[i] : keys);
    const float by = scale * 1.44269504f;
    const bool rises = by > 0.0f; // else scores are scaled before their maximum is taken
    float o[TILES][WIDE / 8][4] = {}, most[TILES][2], total[TILES][2] = {};
    unsigned int held[TILES][HELD][4];

#pragma unroll
    for (int i = 0; i < TILES; i++)
        most[i][0] = most[i][1] = attention_none();
    attention_fetch<ROWS, D, WIDE, THREADS>(qs, q, q_step, here, whole);
    if (end[1] > 0) {
        attention_fetch<KEYS, D, WIDE, THREADS>(ks, k, k_step, end[1], whole);
        attention_fetch<KEYS, D, WIDE, THREADS>(vs, v, v_step, end[1], whole);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
    for (int first = 0, stage = 0; first < end[1]; first += KEYS, stage ^= 1) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        const int next = first + KEYS;
        if (next < end[1]) {
            attention_fetch<KEYS, D, WIDE, THREADS>(ks + (stage ^ 1) * KEYS * LINE, k + next * k_step, k_step,
                                                    end[1] - next, whole);
            attention_fetch<KEYS, D, WIDE, THREADS>(vs + (stage ^ 1) * KEYS * LINE, v + next * v_step, v_step,
                                                    end[1] - next, whole);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (HELD > 1 && first == 0) {
#pragma unroll
            for (int i = 0; i < TILES; i++) {
#pragma unroll
                for (int d = 0; d < HELD; d++)
                    attention_read<false>(held[i][d],
                                          qs + (row + i * 16 + lane % 16) * LINE + d * 16 + lane / 16 * 8);
            }
        }
        if (first >= end[2] || row >= here)
            continue;
        float s[TILES][KEYS / 8][4];
        attention_scores<KEYS, WIDE>(s, qs + row * LINE, ks + stage * KEYS * LINE, held);
        if (!rises || next > end[0]) {
#pragma unroll
            for (int i = 0; i < TILES; i++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const long long sees = row + i * 16 + e / 2 * 8 + lane / 4 + diagonal;
                    const int until = static_cast<int>((sees < keys ? sees : keys) - first) - lane % 4 * 2 - e % 2;
#pragma unroll
                    for (int j = 0; j < KEYS / 8; j++)
                        s[i][j][e] = j * 8 < until ? s[i][j][e] * (rises ? 1.0f : by) : attention_none();
                }
            }
        }
        attention_weigh<KEYS, WIDE>(s, o, most, total, rises ? by : 1.0f);
        attention_values<KEYS, WIDE>(o, s, vs + stage * KEYS * LINE);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    const bool pairs = (reinterpret_cast<unsigned long long>(out) |
                        static_cast<unsigned long long>(out_step) * sizeof(R)) % (2 * sizeof(R)) == 0;
#pragma unroll
    for (int i = 0; i < TILES; i++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = total[i][h];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            const float inverse = attention_inverse<ZERO>(sum);
            const int r = row + i * 16 + h * 8 + lane / 4;
#pragma unroll
            for (int d = 0; d < WIDE / 8; d++) {
                const int col = d * 8 + lane % 4 * 2;
                if (r < here && col < D)
                    attention_store(out + r * out_step + col, o[i][d][h * 2] * inverse,
                                    o[i][d][h * 2 + 1] * inverse, pairs && D % 2 == 0,
                                    col + 1 < D);
            }
        }
    }
}
