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
// side. GROUPS: four warps multiply together, while COPIERS threads more bring what they need.
template <int ROWS, int COLS, int THREADS, int COPIERS, typename T>
struct mma_layout {
    static constexpr int HEIGHT = ROWS * COLS / THREADS >= 64 ? 64 : 32; // of a warp by itself
    static constexpr int TALL = THREADS / 128 < ROWS / 64 ? THREADS / 128 : ROWS / 64; // groups below each other
    static constexpr bool GROUPS =
        MMA_HAS_GROUPS && COPIERS > 0 && sizeof(T) == 2 && TALL > 0 && COLS * TALL / (THREADS / 128) >= 64;
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

// The share of one of THREADS threads of a tile, of which outs x deep elements exist; the others are zero. Element (out, deep) stands
// at p[out * step_out + deep * step_deep]; `chunks` says that 16 bytes may be copied as they are.
template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, typename T>
__device__ __forceinline__ void mma_fetch(unsigned char *to, int thread, const T *p, long long step_out,
                                          long long step_deep, int outs, int deep, bool chunks)
{
    constexpr int EACH = 16 / sizeof(T), CHUNKS = (ALONG_DEEP ? DEEP : OUT) / EACH, LINES = ALONG_DEEP ? OUT : DEEP;
    constexpr int TURNS = LINES * CHUNKS / THREADS, EVERY = THREADS / CHUNKS;
    static_assert(TURNS * THREADS == LINES * CHUNKS, "a tile is whole turns");
    if (chunks) {
        const int line = thread / CHUNKS, chunk = thread % CHUNKS, lines = ALONG_DEEP ? outs : deep;
        const long long step = ALONG_DEEP ? step_out : step_deep;
        const int left = ((ALONG_DEEP ? deep : outs) - chunk * EACH) * static_cast<int>(sizeof(T));
        const int most = left < 0 ? 0 : left < 16 ? left : 16;
        const T *from = p + line * step + chunk * EACH;
        const unsigned int at = mma_shared(to);
#pragma unroll
        for (int i = 0; i < TURNS; i++) {
            const int bytes = line + i * EVERY < lines ? most : 0;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                             at + mma_place<LINES>(line + i * EVERY, chunk)),
                         "l"(bytes ? from + i * EVERY * step : p), "r"(bytes)
                         : "memory");
        }
        return;
    }
    const bool apart = (ALONG_DEEP ? step_deep : step_out) != 1; // neighbouring threads take neighbours in memory
#pragma unroll 1
    for (int i = 0; i < TURNS; i++) {
        const int at = thread + i * THREADS;
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

template <int EIGHTS, typename T> // of columns; one for each that is used stands below
struct mma_group;

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
            mma_group<EIGHTS, T>::template add<!X_ALONG_DEEP, !Y_ALONG_DEEP>(
                sums[i], mma_matrix<DEEP, X_ALONG_DEEP>(xs, i * (ROWS / SIXTEENS) + down / 4 * 64, k),
                mma_matrix<DEEP, Y_ALONG_DEEP>(ys, across * EIGHTS * 8, k));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// All but so many stages that were begun have ended.
template <int BUT>
__device__ __forceinline__ void mma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(BUT) : "memory");
}

// mbarriers: of a stage that has come, and of one that nobody reads any more.
__device__ __forceinline__ void mma_barrier_init(unsigned int barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void mma_arrive(unsigned int barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// This thread arrives when its copies so far have come.
__device__ __forceinline__ void mma_arrive_later(unsigned int barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void mma_await(unsigned int barrier, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// An operand in memory: `p` points to the tile's first row or column.
template <typename T> struct mma_strided {
    using type = T;
    const T *p;
    long long step_out, step_deep;

    // Whether 16 bytes may be copied as they are, and come by themselves.
    template <int OUT, int DEEP, int COPIERS, bool ALONG_DEEP>
    __device__ __forceinline__ bool places(int) const
    {
        constexpr int EACH = 16 / sizeof(T);
        return (ALONG_DEEP ? step_deep == 1 && step_out % EACH == 0 : step_out == 1 && step_deep % EACH == 0) &&
               reinterpret_cast<unsigned long long>(p) % 16 == 0;
    }

    static __device__ __forceinline__ bool is_async(bool chunks)
    {
        return chunks;
    }

    template <int OUT, int DEEP, int COPIERS, bool ALONG_DEEP>
    __device__ __forceinline__ void fetch(unsigned char *to, int thread, bool chunks, long long at, int outs,
                                          int deep) const
    {
        mma_fetch<OUT, DEEP, COPIERS, ALONG_DEEP>(to, thread, p + at * step_deep, step_out, step_deep, outs, deep,
                                                  chunks);
    }
};

// Both operands of a tile, stage by stage: what a thread that copies knows of them.
template <int ROWS, int COLS, int DEEP, int COPIERS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename X, typename Y,
          typename X_PLACES, typename Y_PLACES>
struct mma_source {
    static constexpr int ALL = COPIERS;
    unsigned char *xs, *ys; // shared memory of all stages
    X x;
    Y y;
    X_PLACES x_places;
    Y_PLACES y_places;
    long long depth;
    int rows, cols; // that exist

    // The part from `at` on, as the share of one of COPIERS threads.
    __device__ __forceinline__ void fetch(int thread, int stage, long long at) const
    {
        const int deep = depth - at < DEEP ? static_cast<int>(depth - at) : DEEP;
        x.template fetch<ROWS, DEEP, COPIERS, X_ALONG_DEEP>(xs + stage * ROWS * 128, thread, x_places, at, rows, deep);
        y.template fetch<COLS, DEEP, COPIERS, Y_ALONG_DEEP>(ys + stage * COLS * 128, thread, y_places, at, cols, deep);
    }

    __device__ __forceinline__ bool is_async() const
    {
        return X::is_async(x_places) && Y::is_async(y_places);
    }
};

template <int SIXTEENS, int EIGHTS, typename A>
__device__ __forceinline__ void mma_clear(A (&sums)[SIXTEENS][EIGHTS][4])
{
#pragma unroll
    for (int i = 0; i < SIXTEENS * EIGHTS * 4; i++)
        sums[i / 4 / EIGHTS][i / 4 % EIGHTS][i % 4] = 0;
}

// Warps by themselves: all meet once a stage. Threads from FIRST on copy.
template <int ROWS, int COLS, int DEEP, int STAGES, int THREADS, int FIRST, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T,
          typename S, typename A, int SIXTEENS, int EIGHTS>
__device__ __forceinline__ void mma_by_warps(A (&sums)[SIXTEENS][EIGHTS][4], const S &source)
{
    constexpr int DOWN = ROWS / SIXTEENS / 16;
    const int copier = static_cast<int>(threadIdx.x) - FIRST;
    const bool copies = copier >= 0 && copier < S::ALL;
    const int down = threadIdx.x / 32 % DOWN, across = threadIdx.x / 32 / DOWN;
    const bool has_results = threadIdx.x < THREADS && down * 16 < source.rows && across * EIGHTS * 8 < source.cols;
    int into = STAGES - 1, from = 0;

    mma_clear(sums);
#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (copies && stage * DEEP < source.depth)
            source.fetch(copier, stage, stage * DEEP);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
#pragma unroll 1
    for (long long at = 0; at < source.depth; at += DEEP) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (copies && at + (STAGES - 1) * DEEP < source.depth)
            source.fetch(copier, into, at + (STAGES - 1) * DEEP);
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (has_results)
            mma_multiply<ROWS, COLS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, source.xs + from * ROWS * 128,
                                                                          source.ys + from * COLS * 128, down, across);
        into = from;
        from = from + 1 == STAGES ? 0 : from + 1;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// Warpgroups: those that copy and those that multiply wait for each other by mbarriers alone.
template <int ROWS, int COLS, int DEEP, int STAGES, int THREADS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, typename T,
          typename S, int SIXTEENS, int EIGHTS>
__device__ __forceinline__ void mma_by_groups(float (&sums)[SIXTEENS][EIGHTS][4], const S &source)
{
    constexpr int DOWN = ROWS / SIXTEENS / 16;
    const unsigned int xs = mma_shared(source.xs), ys = mma_shared(source.ys);
    const unsigned int come = ys + STAGES * COLS * 128, gone = come + STAGES * 8;
    const int down = threadIdx.x / 32 % DOWN, across = threadIdx.x / 32 / DOWN;
    int stage = 0, parity = 0;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mma_barrier_init(come + i * 8, S::ALL);
            mma_barrier_init(gone + i * 8, THREADS / 32);
        }
    }
    __syncthreads();
    if (threadIdx.x >= THREADS) {
#pragma unroll 1
        for (long long at = 0; at < source.depth; at += DEEP) {
            if (at >= STAGES * DEEP)
                mma_await(gone + stage * 8, parity ^ 1);
            source.fetch(threadIdx.x - THREADS, stage, at);
            if (source.is_async()) {
                mma_arrive_later(come + stage * 8);
            } else { // what was stored is no copy that arrives
                asm volatile("cp.async.wait_all;" ::: "memory");
                mma_arrive(come + stage * 8);
            }
            stage = stage + 1 == STAGES ? 0 : stage + 1;
            parity ^= stage == 0;
        }
    } else {
        unsigned int last = 0;
        mma_clear(sums);
#pragma unroll 1
        for (long long at = 0; at < source.depth; at += DEEP) {
            mma_await(come + stage * 8, parity);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            mma_begin<ROWS, DEEP, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, xs + stage * ROWS * 128,
                                                                 ys + stage * COLS * 128, down, across);
            mma_wait<1>();
            if (at > 0 && threadIdx.x % 32 == 0)
                mma_arrive(last);
            last = gone + stage * 8;
            stage = stage + 1 == STAGES ? 0 : stage + 1;
            parity ^= stage == 0;
        }
        mma_wait<0>();
#pragma unroll
        for (int i = 0; i < SIXTEENS * EIGHTS * 4; i++) // not looked at before
            asm volatile("" : "+f"(sums[i / 4 / EIGHTS][i / 4 % EIGHTS][i % 4])::"memory");
    }
}

// All of it for one tile. THREADS threads multiply; COPIERS more bring what they need, or all do (0).
template <int ROWS, int COLS, int DEEP, int STAGES, int THREADS, int COPIERS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int SIXTEENS,
          int EIGHTS, typename A, typename X, typename Y>
__device__ __forceinline__ void mma_product(A (&sums)[SIXTEENS][EIGHTS][4], void *memory, const X &x, const Y &y,
                                            long long rows, long long cols, long long depth)
{
    using T = typename X::type;
    static_assert(DEEP * sizeof(T) == 128 && STAGES > 1, "");
    unsigned char *xs = static_cast<unsigned char *>(memory);
    constexpr int ALL = COPIERS > 0 ? COPIERS : THREADS < 256 ? THREADS : 256;
    const int copier = static_cast<int>(threadIdx.x) - (COPIERS > 0 ? THREADS : 0);
    const auto x_places = x.template places<ROWS, DEEP, ALL, X_ALONG_DEEP>(copier);
    const auto y_places = y.template places<COLS, DEEP, ALL, Y_ALONG_DEEP>(copier);
    const mma_source<ROWS, COLS, DEEP, ALL, X_ALONG_DEEP, Y_ALONG_DEEP, X, Y, decltype(x_places), decltype(y_places)>
        source = {xs, xs + STAGES * ROWS * 128, x, y, x_places, y_places, depth,
                  rows < ROWS ? static_cast<int>(rows) : ROWS, cols < COLS ? static_cast<int>(cols) : COLS};
    if constexpr (mma_layout<ROWS, COLS, THREADS, COPIERS, T>::GROUPS)
        mma_by_groups<ROWS, COLS, DEEP, STAGES, THREADS, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, source);
    else
        mma_by_warps<ROWS, COLS, DEEP, STAGES, THREADS, COPIERS ? THREADS : 0, X_ALONG_DEEP, Y_ALONG_DEEP, T>(sums, source);
    __syncthreads();
}

template <int ROWS, int COLS, int DEEP, int STAGES, int THREADS, int COPIERS, bool X_ALONG_DEEP, bool Y_ALONG_DEEP, int SIXTEENS,
          int EIGHTS, typename A, typename T>
__device__ __forceinline__ void mma_product(A (&sums)[SIXTEENS][EIGHTS][4], void *memory, const T *x, long long x_out,
                                            long long x_deep, const T *y, long long y_out, long long y_deep,
                                            long long rows, long long cols, long long depth)
{
    mma_product<ROWS, COLS, DEEP, STAGES, THREADS, COPIERS, X_ALONG_DEEP, Y_ALONG_DEEP>(
        sums, memory, mma_strided<T>{x, x_out, x_deep}, mma_strided<T>{y, y_out, y_deep}, rows, cols, depth);
}

// The sums of each warp's sixteen rows of one slab, in rows of COLS + 8.
template <int ROWS, int COLS, int SIXTEENS, int EIGHTS, typename A>
__device__ __forceinline__ void mma_stage(A *memory, const A (&sums)[SIXTEENS][EIGHTS][4], int slab)
{
    constexpr int DOWN = ROWS / SIXTEENS / 16;
    if (threadIdx.x >= DOWN * (COLS / 8 / EIGHTS) * 32)
        return;
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
