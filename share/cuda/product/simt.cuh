// A product by the ordinary arithmetic units: tiles of both operands in shared memory, deep element first, two of
// each, so that the next ones are on their way while a thread multiplies its SUM_ROWS x SUM_COLS results.

// A thread's share of a tile, of which outs x deep elements exist; the others are zero. Element (out, deep) stands
// at p[out * step_out + deep * step_deep]. Fours of neighbours lie along DEEP_FIRST's dimension; `fours` says that
// they may be read as one.
template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A, typename T>
__device__ __forceinline__ void simt_fetch(A (&held)[HELD], const T *p, long long step_out, long long step_deep,
                                           long long outs, long long deep, bool fours)
{
#pragma unroll
    for (int i = 0; i < HELD / 4; i++) {
        const int four = threadIdx.x + i * THREADS;
        const int o = ALONG_DEEP ? four / (DEEP / 4) : four % (OUT / 4) * 4;
        const int d = ALONG_DEEP ? four % (DEEP / 4) * 4 : four / (OUT / 4);
        const T *from = p + o * step_out + d * step_deep;
        if (fours && o + (ALONG_DEEP ? 1 : 4) <= outs && d + (ALONG_DEEP ? 4 : 1) <= deep &&
            four < OUT * DEEP / 4) {
            const tile_vector<T, 4> read = *reinterpret_cast<const tile_vector<T, 4> *>(from);
#pragma unroll
            for (int e = 0; e < 4; e++)
                held[i * 4 + e] = static_cast<A>(read.at[e]);
        } else {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const bool exists = o + (ALONG_DEEP ? 0 : e) < outs && d + (ALONG_DEEP ? e : 0) < deep &&
                                    four < OUT * DEEP / 4;
                held[i * 4 + e] =
                    exists ? static_cast<A>(from[e * (ALONG_DEEP ? step_deep : step_out)]) : static_cast<A>(0);
            }
        }
    }
}

template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A>
__device__ __forceinline__ void simt_put(A *to, const A (&held)[HELD])
{
#pragma unroll
    for (int i = 0; i < HELD / 4; i++) {
        const int four = threadIdx.x + i * THREADS;
        const int o = ALONG_DEEP ? four / (DEEP / 4) : four % (OUT / 4) * 4;
        const int d = ALONG_DEEP ? four % (DEEP / 4) * 4 : four / (OUT / 4);
        if (four >= OUT * DEEP / 4)
            break;
#pragma unroll
        for (int e = 0; e < 4; e++)
            to[(d + (ALONG_DEEP ? e : 0)) * (OUT + 4) + o + (ALONG_DEEP ? 0 : e)] = held[i * 4 + e];
    }
}

// A warp's threads are 4 by 8; a thread's rows and columns come in fours.
template <int COLS, int SUM_COLS>
__device__ __forceinline__ int simt_row()
{
    return threadIdx.x / 32 / (COLS / SUM_COLS / 8) * 4 + threadIdx.x % 32 / 8;
}

template <int COLS, int SUM_COLS>
__device__ __forceinline__ int simt_col()
{
    return threadIdx.x / 32 % (COLS / SUM_COLS / 8) * 8 + threadIdx.x % 8;
}

template <int ROWS, int COLS, int DEEP, int SUM_ROWS, int SUM_COLS, typename A>
__device__ __forceinline__ void simt_multiply(A (&sums)[SUM_ROWS][SUM_COLS], const A *xs, const A *ys)
{
    const A *x_at = xs + simt_row<COLS, SUM_COLS>() * 4, *y_at = ys + simt_col<COLS, SUM_COLS>() * 4;
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        A x[SUM_ROWS], y[SUM_COLS];
#pragma unroll
        for (int i = 0; i < SUM_ROWS; i += 4)
            *reinterpret_cast<tile_vector<A, 4> *>(&x[i]) = *reinterpret_cast<const tile_vector<A, 4> *>(
                &x_at[d * (ROWS + 4) + i / 4 * (ROWS * 4 / SUM_ROWS)]);
#pragma unroll
        for (int j = 0; j < SUM_COLS; j += 4)
            *reinterpret_cast<tile_vector<A, 4> *>(&y[j]) = *reinterpret_cast<const tile_vector<A, 4> *>(
                &y_at[d * (COLS + 4) + j / 4 * (COLS * 4 / SUM_COLS)]);
#pragma unroll
        for (int i = 0; i < SUM_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < SUM_COLS; j++)
                sums[i][j] += x[i] * y[j];
        }
    }
}

// An operand in memory: `p` points to the tile's first row or column.
template <typename T> struct simt_strided {
    const T *p;
    long long step_out, step_deep;

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP>
    __device__ __forceinline__ bool places(long long) const
    {
        return (ALONG_DEEP ? step_deep == 1 && step_out % 4 == 0 : step_out == 1 && step_deep % 4 == 0) &&
               reinterpret_cast<unsigned long long>(p) % (4 * sizeof(T)) == 0;
    }

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A>
    __device__ __forceinline__ void fetch(A (&held)[HELD], bool fours, long long at, long long outs,
                                          long long depth) const
    {
        simt_fetch<OUT, DEEP, THREADS, ALONG_DEEP>(held, p + at * step_deep, step_out, step_deep, outs, depth - at,
                                                   fours);
    }

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A>
    static __device__ __forceinline__ void put(A *to, const A (&held)[HELD])
    {
        simt_put<OUT, DEEP, THREADS, ALONG_DEEP>(to, held);
    }
};

// All of it for one tile: depth elements of both operands.
template <int ROWS, int COLS, int DEEP, int THREADS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int SUM_ROWS,
          int SUM_COLS, typename A, typename X, typename Y>
__device__ __forceinline__ void simt_product(A (&sums)[SUM_ROWS][SUM_COLS], A *memory, const X &x, const Y &y,
                                             long long rows, long long cols, long long depth)
{
    constexpr int X_SIZE = DEEP * (ROWS + 4), Y_SIZE = DEEP * (COLS + 4);
    constexpr int X_HELD = (ROWS * DEEP + THREADS * 4 - 1) / (THREADS * 4) * 4;
    constexpr int Y_HELD = (COLS * DEEP + THREADS * 4 - 1) / (THREADS * 4) * 4;
    A *xs = memory, *ys = memory + 2 * X_SIZE;
    const auto x_places = x.template places<ROWS, DEEP, THREADS, X_ALONG_DEEP>(rows);
    const auto y_places = y.template places<COLS, DEEP, THREADS, Y_ALONG_DEEP>(cols);
    const bool has_results =
        simt_row<COLS, SUM_COLS>() * 4 < rows && simt_col<COLS, SUM_COLS>() * 4 < cols;
    A x_held[X_HELD], y_held[Y_HELD];
    int stage = 0;

#pragma unroll
    for (int i = 0; i < SUM_ROWS * SUM_COLS; i++)
        sums[i / SUM_COLS][i % SUM_COLS] = 0;
    x.template fetch<ROWS, DEEP, THREADS, X_ALONG_DEEP>(x_held, x_places, 0, rows, depth);
    y.template fetch<COLS, DEEP, THREADS, Y_ALONG_DEEP>(y_held, y_places, 0, cols, depth);
    x.template put<ROWS, DEEP, THREADS, X_ALONG_DEEP>(xs, x_held);
    y.template put<COLS, DEEP, THREADS, Y_ALONG_DEEP>(ys, y_held);
    __syncthreads();
    for (long long at = 0; at < depth; at += DEEP) {
        const bool more = at + DEEP < depth;
        if (more) {
            x.template fetch<ROWS, DEEP, THREADS, X_ALONG_DEEP>(x_held, x_places, at + DEEP, rows, depth);
            y.template fetch<COLS, DEEP, THREADS, Y_ALONG_DEEP>(y_held, y_places, at + DEEP, cols, depth);
        }
        if (has_results)
            simt_multiply<ROWS, COLS, DEEP>(sums, xs + stage * X_SIZE, ys + stage * Y_SIZE);
        if (more) {
            stage ^= 1;
            x.template put<ROWS, DEEP, THREADS, X_ALONG_DEEP>(xs + stage * X_SIZE, x_held);
            y.template put<COLS, DEEP, THREADS, Y_ALONG_DEEP>(ys + stage * Y_SIZE, y_held);
            __syncthreads();
        }
    }
    __syncthreads();
}

template <int ROWS, int COLS, int DEEP, int THREADS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int SUM_ROWS,
          int SUM_COLS, typename A, typename X, typename Y>
__device__ __forceinline__ void simt_product(A (&sums)[SUM_ROWS][SUM_COLS], A *memory, const X *x,
                                             long long x_out, long long x_deep, const Y *y, long long y_out,
                                             long long y_deep, long long rows, long long cols, long long depth)
{
    simt_product<ROWS, COLS, DEEP, THREADS, X_ALONG_DEEP, Y_ALONG_DEEP>(
        sums, memory, simt_strided<X>{x, x_out, x_deep}, simt_strided<Y>{y, y_out, y_deep}, rows, cols, depth);
}

// Rows of the tile whose sums pass through shared memory at once, and these sums in rows of COLS + 4.
template <int ROWS, int COLS, int SUM_ROWS, int SUM_COLS, typename A>
__device__ __forceinline__ void simt_stage(A *memory, const A (&sums)[SUM_ROWS][SUM_COLS], int slab)
{
    A *to = memory + simt_row<COLS, SUM_COLS>() * 4 * (COLS + 4) + simt_col<COLS, SUM_COLS>() * 4;
#pragma unroll
    for (int i = 0; i < SUM_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < SUM_COLS; j++)
            if (i / 4 == slab)
                to[i % 4 * (COLS + 4) + j / 4 * (COLS * 4 / SUM_COLS) + j % 4] = sums[i][j];
    }
}
