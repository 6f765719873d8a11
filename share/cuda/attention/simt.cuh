// Attention without tensor cores, 256 threads for 64 queries: a thread keeps the scores of 4 queries with 4 keys, and
// sums of values of 4 queries for every fourth four of a vector's numbers. Keys, and then values, come into shared
// memory as floats, in rows of WIDE + 4, so that neighbouring rows begin in other banks.
template <int ROWS, int D, int WIDE, int THREADS, typename T>
__device__ __forceinline__ void attention_load(float *to, const T *from, long long step, int rows)
{
#pragma unroll 4
    for (int at = threadIdx.x; at < ROWS * WIDE; at += THREADS) {
        const int row = at / WIDE, col = at % WIDE;
        to[row * (WIDE + 4) + col] = row < rows && col < D ? static_cast<float>(from[row * step + col]) : 0.0f;
    }
}

// All of it. `out` and `q` point to the block's first query, of which `rows` exist. Query r sees the keys below
// `keys` and below r + diagonal. The factor of the scores may be of any sign.
template <int ROWS, int KEYS, int D, int TILES, bool ZERO, typename T, typename R>
__device__ __forceinline__ void attention_simt(unsigned char *memory, R *out, long long out_step, const T *q,
                                               long long q_step, const T *k, long long k_step, const T *v,
                                               long long v_step, long long rows, long long keys, long long diagonal,
                                               float scale)
{
    constexpr int WIDE = (D + 63) / 64 * 64, LINE = WIDE + 4, THREADS = 256, EACH = 4;
    static_assert(ROWS == 16 * EACH && KEYS == 16 * EACH, "16 x 16 threads");
    float *const qs = reinterpret_cast<float *>(memory), *const kv = qs + ROWS * LINE, *const ps = kv + KEYS * LINE;
    const int tx = threadIdx.x % 16, row = threadIdx.x / 16 * EACH;
    const int here = rows < ROWS ? static_cast<int>(rows) : ROWS;
    const long long last = here - 1 + diagonal < keys ? here - 1 + diagonal : keys;
    float o[EACH][WIDE / 16] = {}, most[EACH], total[EACH] = {};

#pragma unroll
    for (int i = 0; i < EACH; i++)
        most[i] = __int_as_float(0xff800000);
    attention_load<ROWS, D, WIDE, THREADS>(qs, q, q_step, here);
#pragma unroll 1
    for (long long first = 0; first < last; first += KEYS) {
        const int some = last - first < KEYS ? static_cast<int>(last - first) : KEYS;
        float s[EACH][EACH] = {};
        __syncthreads();
        attention_load<KEYS, D, WIDE, THREADS>(kv, k + first * k_step, k_step, some);
        __syncthreads();
#pragma unroll 4
        for (int d = 0; d < (D + 3) / 4 * 4; d += 4) {
            float4 x[EACH], y[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                x[i] = *reinterpret_cast<const float4 *>(qs + (row + i) * LINE + d);
                y[i] = *reinterpret_cast<const float4 *>(kv + (tx + i * 16) * LINE + d);
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) // in the order of the numbers
                    s[i][j] = fmaf(x[i].w, y[j].w, fmaf(x[i].z, y[j].z, fmaf(x[i].y, y[j].y, fmaf(x[i].x, y[j].x, s[i][j]))));
            }
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const long long sees = (row + i + diagonal < keys ? row + i + diagonal : keys) - first;
            float m = most[i], sum = 0.0f;
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                s[i][j] = tx + j * 16 < sees ? s[i][j] * scale : __int_as_float(0xff800000);
                m = fmaxf(m, s[i][j]);
            }
#pragma unroll
            for (int other = 8; other > 0; other /= 2)
                m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, other));
            const float top = m == __int_as_float(0xff800000) ? 0.0f : m, back = expf(most[i] - top);
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                s[i][j] = expf(s[i][j] - top);
                sum += s[i][j];
                ps[(row + i) * (KEYS + 4) + tx + j * 16] = s[i][j];
            }
            total[i] = total[i] * back + sum;
            most[i] = m;
#pragma unroll
            for (int d = 0; d < WIDE / 16; d++)
                o[i][d] *= back;
        }
        __syncthreads();
        attention_load<KEYS, D, WIDE, THREADS>(kv, v + first * v_step, v_step, some);
        __syncthreads();
#pragma unroll 2
        for (int j = 0; j < KEYS; j += 4) {
            float4 p[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++)
                p[i] = *reinterpret_cast<const float4 *>(ps + (row + i) * (KEYS + 4) + j);
#pragma unroll
            for (int c = 0; c < WIDE / 64; c++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float4 y = *reinterpret_cast<const float4 *>(kv + (j + e) * LINE + c * 64 + tx * 4);
#pragma unroll
                    for (int i = 0; i < EACH; i++) {
                        const float w = e == 0 ? p[i].x : e == 1 ? p[i].y : e == 2 ? p[i].z : p[i].w;
                        o[i][c * 4] += w * y.x;
                        o[i][c * 4 + 1] += w * y.y;
                        o[i][c * 4 + 2] += w * y.z;
                        o[i][c * 4 + 3] += w * y.w;
                    }
                }
            }
        }
    }
    const bool pairs = (reinterpret_cast<unsigned long long>(out) |
                        static_cast<unsigned long long>(out_step) * sizeof(R)) % (2 * sizeof(R)) == 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        float sum = total[i];
#pragma unroll
        for (int other = 8; other > 0; other /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, other);
        const float inverse = attention_inverse<ZERO>(sum);
#pragma unroll
        for (int d = 0; d < WIDE / 16; d += 2) {
            const int col = d / 4 * 64 + tx * 4 + d % 4;
            if (row + i < here && col < D)
                attention_store(out + (row + i) * out_step + col, o[i][d] * inverse,
                                o[i][d + 1] * inverse, pairs && D % 2 == 0, col + 1 < D);
        }
    }
}
