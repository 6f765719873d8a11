// An operand whose places are computed: element (out, deep) stands at place(own(out), window(deep), whether it exists),
// NULL for none. `chunks` says that 16 bytes along the depth from a multiple of these on are one piece of memory.
template <typename OWN, typename WINDOW, typename PLACE, typename T> struct mma_gathered {
    using type = T;
    OWN own;
    WINDOW window;
    PLACE place;
    long long out0, deep0; // the tile's first
    const T *root;
    bool chunks;
    static constexpr int EACH = 16 / sizeof(T);

    template <typename HELD> struct known {
        HELD held;
        bool chunks;
    };

    template <int OUT, int DEEP, int COPIERS, bool ALONG_DEEP>
    __device__ __forceinline__ auto places(int thread) const
    {
        constexpr int CHUNKS = DEEP / EACH, EVERY = COPIERS / CHUNKS, TURNS = OUT / EVERY;
        static_assert(ALONG_DEEP && TURNS * EVERY == OUT, "a tile is whole turns");
        known<place_owns<decltype(own(0)), TURNS>> places;
        places.chunks = chunks;
#pragma unroll
        for (int i = 0; i < TURNS; i++)
            places.held.at[i] = own(out0 + thread / CHUNKS + i * EVERY);
        return places;
    }

    template <typename PLACES> static __device__ __forceinline__ bool is_async(const PLACES &places)
    {
        return places.chunks;
    }

    template <int OUT, int DEEP, int COPIERS, bool ALONG_DEEP, typename PLACES>
    __device__ __forceinline__ void fetch(unsigned char *to, int thread, const PLACES &places, long long at, int outs,
                                          int deep) const
    {
        constexpr int CHUNKS = DEEP / EACH, EVERY = COPIERS / CHUNKS, TURNS = OUT / EVERY;
        const int line = thread / CHUNKS, d = thread % CHUNKS * EACH;
        if (chunks) {
            const auto within = window(deep0 + at + d);
            const unsigned int into = mma_shared(to);
#pragma unroll
            for (int i = 0; i < TURNS; i++) {
                const T *from = place(places.held.at[i], within, line + i * EVERY < outs && d < deep);
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                                 into + mma_place<OUT>(line + i * EVERY, thread % CHUNKS)),
                             "l"(from ? from : root), "r"(from ? 16 : 0)
                             : "memory");
            }
            return;
        }
#pragma unroll 1
        for (int i = 0; i < OUT * CHUNKS; i += COPIERS) {
            const int o = (thread + i) / CHUNKS;
            const auto mine = own(out0 + o);
            tile_vector<T, EACH> held;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                const T *from = place(mine, window(deep0 + at + d + e), o < outs && d + e < deep);
                held.at[e] = from ? *from : static_cast<T>(0);
            }
            *reinterpret_cast<tile_vector<T, EACH> *>(to + mma_place<OUT>(o, thread % CHUNKS)) = held;
        }
    }
};

template <typename OWN, typename WINDOW, typename PLACE, typename T>
__device__ __forceinline__ mma_gathered<OWN, WINDOW, PLACE, T> mma_gather(const OWN &own, const WINDOW &window,
                                                                          const PLACE &place, long long out0,
                                                                          long long deep0, const T *root,
                                                                          long long length)
{
    constexpr int EACH = 16 / sizeof(T);
    return {own, window, place, out0, deep0, root,
            length % EACH == 0 && reinterpret_cast<unsigned long long>(root) % 16 == 0};
}
