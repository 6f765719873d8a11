// A product by the tensor cores: tiles of both operands come into shared memory by asynchronous copies, several
// stages ahead. A tile lies as its operand does in memory, in lines along the depth (ALONG_DEEP), or along its rows
// or columns. Lines are cut into panels of 128 bytes, eight chunks of 16; chunks change places from line to line, so
// that a column of them lies in different banks. That is the layout both of ldmatrix' rows here and of what Hopper's
// warpgroups read by themselves (wgmma, "128-byte swizzle").
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool MMA_HAS_GROUPS = true;
#else
constexpr bool MMA_HAS_GROUPS = false;
#endif

// Which results a warp has: every DOWN-th sixteen of the rows, SIXTEENS of them, and EIGHTS eights of columns side by
// side. GROUPS: four warps multiply together.
template <int ROWS, int COLS, int THREADS, typename T>
struct mma_layout {
    static constexpr int HEIGHT = ROWS * COLS / THREADS >= 64 ? 64 : 32; // of a warp by itself
    static constexpr int TALL = THREADS / 128 < ROWS / 64 ? THREADS / 128 : ROWS / 64; // groups below each other
    static constexpr bool GROUPS =
        MMA_HAS_GROUPS && sizeof(T) == 2 && TALL > 0 && COLS * TALL / (THREADS / 128) >= 64;
    static constexpr int DOWN = GROUPS ? TALL * 4 : ROWS / HEIGHT;
    static constexpr int SIXTEENS = ROWS / 16 / DOWN, EIGHTS = COLS / 8 * DOWN / (THREADS / 32);
};

template <int LINES>
__device__ __forceinline__ int mma_place(int line, int chunk)
{
    return ((chunk / 8 * LINES + line) * 8 + (chunk % 8 ^ line % 8)) * 16;
}

__device__ __forceinline__ unsigned int mma_shared(const void *p)
{
    return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

// A thread's share of a tile, of which outs x deep elements exist; the others are zero. Element (out, deep) stands
// at p[out * step_out + deep * step_deep]; `chunks` says that 16 bytes may be copied as they are.
template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, typename T>
__device__ __forceinline__ void mma_fetch(unsigned char *to, const T *p, long long step_out, long long step_deep,
                                          int outs, int deep, bool chunks)
{
    constexpr int EACH = 16 / sizeof(T), CHUNKS = (ALONG_DEEP ? DEEP : OUT) / EACH, LINES = ALONG_DEEP ? OUT : DEEP;
    constexpr int TURNS = LINES * CHUNKS / THREADS, EVERY = THREADS / CHUNKS;
    static_assert(EVERY % 8 == 0 && TURNS * THREADS == LINES * CHUNKS, "a thread keeps its place in all turns");
    if (chunks) {
        const int line = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS, lines = ALONG_DEEP ? outs : deep;
        const long long step = ALONG_DEEP ? step_out : step_deep;
        const int left = ((ALONG_DEEP ? deep : outs) - chunk * EACH) * static_cast<int>(sizeof(T));
        const int most = left < 0 ? 0 : left < 16 ? left : 16;
        const T *from = p + line * step + chunk * EACH;
        const unsigned int at = mma_shared(to + mma_place<LINES>(line, chunk));
#pragma unroll
        for (int i = 0; i < TURNS; i++) {
            const int bytes = line + i * EVERY < lines ? most : 0;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at + i * EVERY * 128),
                         "l"(bytes ? from + i * EVERY * step : p), "r"(bytes)
                         : "memory");
        }
        return;
    }
    const bool apart = (ALONG_DEEP ? step_deep : step_out) != 1; // neighbouring threads take neighbours in memory
#pragma unroll 1
    for (int i = 0; i < TURNS; i++) {
        const int at = threadIdx.x + i * THREADS;
        const int line = apart ? at % LINES : at / CHUNKS, chunk = apart ? at / LINES : at % CHUNKS;
        const int o = ALONG_DEEP ? line : chunk * EACH, d = ALONG_DEEP ? chunk * EACH : line;
        tile_vector<T, EACH> held;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int oo = o + (ALONG_DEEP ? 0 : e), dd = d + (ALONG_DEEP ? e : 0);
            held.at[e] = oo < outs && dd < deep ? p[oo * step_out + dd * step_deep] : static_cast<T>(0);
        }
        *reinterpret_cast<tile_vector<T, EACH> *>(to + mma_place<LINES>(line, chunk)) = held;
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

// What a warp multiplies at once: its sixteens of x and its eights of y, two chunks deep, the k-th of a stage.
template <int ROWS, int COLS, int DEEP, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T, int SIXTEENS, int EIGHTS>
__device__ __forceinline__ void mma_operands(unsigned int (&x)[SIXTEENS][4], unsigned int (&y)[EIGHTS][2],
                                             const unsigned char *xs, const unsigned char *ys, int down, int across,
                                             int k)
{
    constexpr int EACH = 16 / sizeof(T), X_LINES = X_ALONG_DEEP ? ROWS : DEEP, Y_LINES = Y_ALONG_DEEP ? COLS : DEEP;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < SIXTEENS; i++) {
        const int row = i * (ROWS / SIXTEENS) + down * 16;
        const int at = X_ALONG_DEEP
                           ? mma_place<X_LINES>(row + lane % 16, k * 2 + lane / 16)
                           : mma_place<X_LINES>(k * 16 + lane % 8 + lane / 16 * 8, row / EACH + lane / 8 % 2);
        mma_read<!X_ALONG_DEEP>(x[i][0], x[i][1], x[i][2], x[i][3], xs + at);
    }
#pragma unroll
    for (int j = 0; j < EIGHTS; j += 2) {
        const int col = (across * EIGHTS + j) * 8;
        const int at = Y_ALONG_DEEP
                           ? mma_place<Y_LINES>(col + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2)
                           : mma_place<Y_LINES>(k * 16 + lane % 16, col / EACH + lane / 16);
        mma_read<!Y_ALONG_DEEP>(y[j][0], y[j][1], y[j + 1][0], y[j + 1][1], ys + at);
    }
}

// One stage, a warp by itself: it reads the next operands while it multiplies these.
template <int ROWS, int COLS, int DEEP, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T, int SIXTEENS, int EIGHTS,
          typename A>
__device__ __forceinline__ void mma_multiply(A (&sums)[SIXTEENS][EIGHTS][4], const unsigned char *xs,
                                             const unsigned char *ys, int down, int across)
{
    constexpr int TURNS = DEEP * sizeof(T) / 32;
    unsigned int x[2][SIXTEENS][4], y[2][EIGHTS][2];
    mma_operands<ROWS, COLS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(x[0], y[0], xs, ys, down, across, 0);
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        if (k + 1 < TURNS)
            mma_operands<ROWS, COLS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(x[(k + 1) % 2], y[(k + 1) % 2], xs, ys,
                                                                          down, across, k + 1);
#pragma unroll
        for (int i = 0; i < SIXTEENS; i++) {
#pragma unroll
            for (int j = 0; j < EIGHTS; j++)
                mma_add(sums[i][j], x[k % 2][i], y[k % 2][j], static_cast<const T *>(nullptr));
        }
    }
}

// Where a warpgroup reads 64 rows or columns, 16 deep, of a tile; lines of 128 bytes lie below each other.
template <int DEEP, bool ALONG_DEEP>
__device__ __forceinline__ unsigned long long mma_matrix(unsigned int tile, int out, int deep)
{
    // DEEP is 64: a panel's 64 lines. The upper bits of an address are the block's number in its cluster.
    const unsigned int at = (tile + out * 128 + deep * (ALONG_DEEP ? 2 : 128)) & 0x3ffff;
    return at >> 4 | (ALONG_DEEP ? 1ull : DEEP * 128ull >> 4) << 16 | 1024ull >> 4 << 32 | 1ull << 62;
}

// One stage, four warps together: begun here, ended when mma_wait says so.
template <int ROWS, int DEEP, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T, int SIXTEENS, int EIGHTS>
__device__ __forceinline__ void mma_begin(float (&sums)[SIXTEENS][EIGHTS][4], unsigned int xs, unsigned int ys,
                                          int down, int across)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEEP; k += 16) {
#pragma unroll
        for (int i = 0; i < SIXTEENS; i++)
            wgmma_add<!X_ALONG_DEEP, !Y_ALONG_DEEP>(
                sums[i], mma_matrix<DEEP, X_ALONG_DEEP>(xs, i * (ROWS / SIXTEENS) + down / 4 * 64, k),
                mma_matrix<DEEP, Y_ALONG_DEEP>(ys, across * EIGHTS * 8, k), static_cast<const T *>(nullptr));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// All but so many stages that were begun have ended.
template <int BUT>
__device__ __forceinline__ void mma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(BUT) : "memory");
}

// All of it for one tile: x and y point to the tile's first row and column.
template <int ROWS, int COLS, int DEEP, int STAGES, int THREADS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int SIXTEENS,
          int EIGHTS, typename A, typename T>
__device__ __forceinline__ void mma_product(A (&sums)[SIXTEENS][EIGHTS][4], void *memory, const T *x, long long x_out,
                                            long long x_deep, const T *y, long long y_out, long long y_deep,
                                            long long rows, long long cols, long long depth)
{
    using layout = mma_layout<ROWS, COLS, THREADS, T>;
    constexpr int EACH = 16 / sizeof(T), X_SIZE = ROWS * 128, Y_SIZE = COLS * 128;
    constexpr int FETCHERS = THREADS < 256 ? THREADS : 256; // what makes whole lines of every tile
    constexpr int AHEAD = STAGES - (layout::GROUPS ? 2 : 1); // a stage that is multiplied by warpgroups ends late
    static_assert(DEEP * sizeof(T) == 128 && AHEAD > 0, "");
    unsigned char *xs = static_cast<unsigned char *>(memory), *ys = xs + STAGES * X_SIZE;
    const bool x_chunks = (X_ALONG_DEEP ? x_deep == 1 && x_out % EACH == 0 : x_out == 1 && x_deep % EACH == 0) &&
                          reinterpret_cast<unsigned long long>(x) % 16 == 0;
    const bool y_chunks = (Y_ALONG_DEEP ? y_deep == 1 && y_out % EACH == 0 : y_out == 1 && y_deep % EACH == 0) &&
                          reinterpret_cast<unsigned long long>(y) % 16 == 0;
    const int down = threadIdx.x / 32 % layout::DOWN, across = threadIdx.x / 32 / layout::DOWN;
    const int x_outs = rows < ROWS ? static_cast<int>(rows) : ROWS, y_outs = cols < COLS ? static_cast<int>(cols) : COLS;
    const bool has_results = down * 16 < rows && across * EIGHTS * 8 < cols;
    int into = 0, from = 0;

    auto fetch = [&](long long at) {
        if (at < depth && threadIdx.x < FETCHERS) {
            const int deep = depth - at < DEEP ? static_cast<int>(depth - at) : DEEP;
            mma_fetch<ROWS, DEEP, FETCHERS, X_ALONG_DEEP>(xs + into * X_SIZE, x + at * x_deep, x_out, x_deep, x_outs,
                                                         deep, x_chunks);
            mma_fetch<COLS, DEEP, FETCHERS, Y_ALONG_DEEP>(ys + into * Y_SIZE, y + at * y_deep, y_out, y_deep, y_outs,
                                                         deep, y_chunks);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        into = into + 1 == STAGES ? 0 : into + 1;
    };
#pragma unroll 1
    for (int stage = 0; stage < AHEAD; stage++)
        fetch(stage * DEEP);
#pragma unroll 1
    for (long long at = 0; at < depth; at += DEEP) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        if constexpr (layout::GROUPS)
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if constexpr (layout::GROUPS) {
            mma_begin<ROWS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, mma_shared(xs + from * X_SIZE),
                                                                 mma_shared(ys + from * Y_SIZE), down, across);
            fetch(at + AHEAD * DEEP);
            mma_wait<1>();
        } else {
            fetch(at + AHEAD * DEEP);
            if (has_results)
                mma_multiply<ROWS, COLS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, xs + from * X_SIZE,
                                                                              ys + from * Y_SIZE, down, across);
        }
        from = from + 1 == STAGES ? 0 : from + 1;
    }
    if constexpr (layout::GROUPS) {
        mma_wait<0>();
#pragma unroll
        for (int i = 0; i < SIXTEENS * EIGHTS * 4; i++) // not looked at before
            asm volatile("" : "+f"(sums[i / 4 / EIGHTS][i / 4 % EIGHTS][i % 4])::"memory");
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

// The sums of each warp's sixteen rows of one slab, in rows of COLS + 8.
template <int ROWS, int COLS, int SIXTEENS, int EIGHTS, typename A>
__device__ __forceinline__ void mma_stage(A *memory, const A (&sums)[SIXTEENS][EIGHTS][4], int slab)
{
    constexpr int DOWN = ROWS / SIXTEENS / 16;
    const int down = threadIdx.x / 32 % DOWN, across = threadIdx.x / 32 / DOWN, lane = threadIdx.x % 32;
    A *to = memory + (down * 16 + lane / 4) * (COLS + 8) + across * EIGHTS * 8 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < SIXTEENS; i++) {
#pragma unroll
        for (int j = 0; j < EIGHTS; j++) {
#pragma unroll
            for (int e = 0; e < 4; e += 2)
                if (i == slab)
                    *reinterpret_cast<tile_vector<A, 2> *>(to + e / 2 * 8 * (COLS + 8) + j * 8) = {
                        {sums[i][j][e], sums[i][j][e + 1]}};
        }
    }
}
