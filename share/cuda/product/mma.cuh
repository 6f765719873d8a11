// A product by the tensor cores: tiles of both operands come into shared memory by asynchronous copies, several
// stages ahead, in chunks of 16 bytes whose places in a row change from row to row, so that the eight rows that a
// matrix is read from lie in different banks. A tile lies as its operand does in memory: rows of DEEP elements
// (ALONG_DEEP), or DEEP rows of its columns, which ldmatrix transposes.
constexpr int MMA_STAGES = 3;

template <int CHUNKS> // of a row
__device__ __forceinline__ int mma_place(int row, int chunk)
{
    constexpr int ROWS_A_ROUND = CHUNKS < 8 ? 8 / CHUNKS : 1;
    return (row * CHUNKS + (chunk ^ (row / ROWS_A_ROUND % (CHUNKS < 8 ? CHUNKS : 8)))) * 16;
}

__device__ __forceinline__ unsigned int mma_shared(const void *p)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

// A thread's share of a tile, of which outs x deep elements exist; the others are zero. Element (out, deep) stands
// at p[out * step_out + deep * step_deep]; `chunks` says that 16 bytes may be copied as they are.
template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, typename T>
__device__ __forceinline__ void mma_fetch(unsigned char *to, const T *p, long long step_out, long long step_deep,
                                          long long outs, long long deep, bool chunks)
{
    constexpr int EACH = 16 / sizeof(T), CHUNKS = (ALONG_DEEP ? DEEP : OUT) / EACH, ALL = OUT * DEEP / EACH;
#pragma unroll
    for (int i = 0; i < (ALL + THREADS - 1) / THREADS; i++) {
        const int at = threadIdx.x + i * THREADS;
        if (ALL % THREADS != 0 && at >= ALL)
            break;
        if (chunks) {
            const int row = at / CHUNKS, chunk = at % CHUNKS;
            const int o = ALONG_DEEP ? row : chunk * EACH, d = ALONG_DEEP ? chunk * EACH : row;
            const long long along = ALONG_DEEP ? deep - d : outs - o;
            const bool exists = o < outs && d < deep;
            const int bytes = !exists ? 0 : along < EACH ? static_cast<int>(along * sizeof(T)) : 16;
            const T *from = exists ? p + o * step_out + d * step_deep : p;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                             mma_shared(to + mma_place<CHUNKS>(row, chunk))),
                         "l"(from), "r"(bytes)
                         : "memory");
        } else { // neighbouring threads take neighbours in memory
            constexpr int LINES = ALL / CHUNKS;
            const bool apart = (ALONG_DEEP ? step_deep : step_out) != 1;
            const int row = apart ? at % LINES : at / CHUNKS, chunk = apart ? at / LINES : at % CHUNKS;
            const int o = ALONG_DEEP ? row : chunk * EACH, d = ALONG_DEEP ? chunk * EACH : row;
            tile_vector<T, EACH> held;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                const int oo = o + (ALONG_DEEP ? 0 : e), dd = d + (ALONG_DEEP ? e : 0);
                held.at[e] = oo < outs && dd < deep ? p[oo * step_out + dd * step_deep] : static_cast<T>(0);
            }
            *reinterpret_cast<tile_vector<T, EACH> *>(to + mma_place<CHUNKS>(row, chunk)) = held;
        }
    }
}

// Four 8 x 8 matrices of 16-bit elements, or of pairs of bytes.
template <bool TRANSPOSED>
__device__ __forceinline__ void mma_read(unsigned int &a, unsigned int &b, unsigned int &c, unsigned int &d,
                                         const unsigned char *from)
{
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(mma_shared(from))
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(mma_shared(from))
                     : "memory");
}

// One stage: a warp's rows are every (ROWS / MMA_ROWS)th sixteen, its columns MMA_COLS eights side by side.
template <int ROWS, int COLS, int DEEP, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T, int MMA_ROWS,
          int MMA_COLS, typename A>
__device__ __forceinline__ void mma_multiply(A (&sums)[MMA_ROWS][MMA_COLS][4], const unsigned char *xs,
                                             const unsigned char *ys, int down, int across)
{
    constexpr int EACH = 16 / sizeof(T);
    constexpr int X_CHUNKS = (X_ALONG_DEEP ? DEEP : ROWS) / EACH, Y_CHUNKS = (Y_ALONG_DEEP ? DEEP : COLS) / EACH;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < DEEP / (2 * EACH); k++) {
        unsigned int x[MMA_ROWS][4], y[MMA_COLS][2];
#pragma unroll
        for (int i = 0; i < MMA_ROWS; i++) {
            const int row = i * (ROWS / MMA_ROWS) + down * 16;
            const int at = X_ALONG_DEEP
                               ? mma_place<X_CHUNKS>(row + lane % 16, k * 2 + lane / 16)
                               : mma_place<X_CHUNKS>(k * 16 + lane % 8 + lane / 16 * 8, row / EACH + lane / 8 % 2);
            mma_read<!X_ALONG_DEEP>(x[i][0], x[i][1], x[i][2], x[i][3], xs + at);
        }
#pragma unroll
        for (int j = 0; j < MMA_COLS; j += 2) {
            const int col = (across * MMA_COLS + j) * 8;
            const int at = Y_ALONG_DEEP
                               ? mma_place<Y_CHUNKS>(col + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2)
                               : mma_place<Y_CHUNKS>(k * 16 + lane % 16, col / EACH + lane / 16);
            mma_read<!Y_ALONG_DEEP>(y[j][0], y[j][1], y[j + 1][0], y[j + 1][1], ys + at);
        }
#pragma unroll
        for (int i = 0; i < MMA_ROWS; i++) {
#pragma unroll
            for (int j = 0; j < MMA_COLS; j++)
                mma_add(sums[i][j], x[i], y[j], static_cast<const T *>(nullptr));
        }
    }
}

// All of it for one tile: x and y point to the tile's first row and column.
template <int ROWS, int COLS, int DEEP, int THREADS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int MMA_ROWS,
          int MMA_COLS, typename A, typename T>
__device__ __forceinline__ void mma_product(A (&sums)[MMA_ROWS][MMA_COLS][4], A *memory, const T *x,
                                            long long x_out, long long x_deep, const T *y, long long y_out,
                                            long long y_deep, long long rows, long long cols, long long depth)
{
    constexpr int EACH = 16 / sizeof(T), X_SIZE = ROWS * DEEP * sizeof(T), Y_SIZE = COLS * DEEP * sizeof(T);
    constexpr int WARPS_DOWN = ROWS / MMA_ROWS / 16;
    unsigned char *xs = reinterpret_cast<unsigned char *>(memory), *ys = xs + MMA_STAGES * X_SIZE;
    const bool x_chunks = (X_ALONG_DEEP ? x_deep == 1 && x_out % EACH == 0 : x_out == 1 && x_deep % EACH == 0) &&
                          reinterpret_cast<unsigned long long>(x) % 16 == 0;
    const bool y_chunks = (Y_ALONG_DEEP ? y_deep == 1 && y_out % EACH == 0 : y_out == 1 && y_deep % EACH == 0) &&
                          reinterpret_cast<unsigned long long>(y) % 16 == 0;
    const int down = threadIdx.x / 32 % WARPS_DOWN, across = threadIdx.x / 32 / WARPS_DOWN;
    const bool has_results = down * 16 < rows && across * MMA_COLS * 8 < cols;
    long long fetched = 0;
    int into = 0, from = 0;

#pragma unroll 1
    for (long long at = (1 - MMA_STAGES) * DEEP; at < depth; at += DEEP) {
        if (at >= 0) {
            asm volatile("cp.async.wait_group %0;" ::"n"(MMA_STAGES - 2) : "memory");
            __syncthreads();
        }
        if (fetched < depth) {
            mma_fetch<ROWS, DEEP, THREADS, X_ALONG_DEEP>(xs + into * X_SIZE, x + fetched * x_deep, x_out, x_deep,
                                                         rows, depth - fetched, x_chunks);
            mma_fetch<COLS, DEEP, THREADS, Y_ALONG_DEEP>(ys + into * Y_SIZE, y + fetched * y_deep, y_out, y_deep,
                                                         cols, depth - fetched, y_chunks);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        fetched += DEEP;
        into = into + 1 == MMA_STAGES ? 0 : into + 1;
        if (at < 0)
            continue;
        if (has_results)
            mma_multiply<ROWS, COLS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, xs + from * X_SIZE,
                                                                          ys + from * Y_SIZE, down, across);
        from = from + 1 == MMA_STAGES ? 0 : from + 1;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

// The sums of each warp's sixteen rows of one slab, in rows of COLS + 8.
template <int ROWS, int COLS, int MMA_ROWS, int MMA_COLS, typename A>
__device__ __forceinline__ void mma_stage(A *memory, const A (&sums)[MMA_ROWS][MMA_COLS][4], int slab)
{
    constexpr int WARPS_DOWN = ROWS / MMA_ROWS / 16;
    const int down = threadIdx.x / 32 % WARPS_DOWN, across = threadIdx.x / 32 / WARPS_DOWN, lane = threadIdx.x % 32;
    A *to = memory + (down * 16 + lane / 4) * (COLS + 8) + across * MMA_COLS * 8 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < MMA_ROWS; i++) {
#pragma unroll
        for (int j = 0; j < MMA_COLS; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (i == slab)
                    to[e / 2 * 8 * (COLS + 8) + j * 8 + e % 2] = sums[i][j][e];
        }
    }
}
