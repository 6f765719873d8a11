// An operand that is computed: element (out, deep) is element(own(out), window(deep), whether it exists). Neighbouring
// threads fetch neighbours, and a thread takes several that lie apart.
template <typename OWN, typename WINDOW, typename ELEMENT> struct simt_gathered {
    OWN own;
    WINDOW window;
    ELEMENT element;
    long long out0, deep0; // the tile's first

    template <int OUT, int DEEP, bool ALONG_DEEP> static __device__ __forceinline__ int out_of(int four, int e)
    {
        return (ALONG_DEEP ? four / DEEP : four % (OUT / 4)) + e * (OUT / 4);
    }

    template <int OUT, int DEEP, bool ALONG_DEEP> static __device__ __forceinline__ int deep_of(int four)
    {
        return ALONG_DEEP ? four % DEEP : four / (OUT / 4);
    }

    // Along the rows or columns, all of a thread's fours have the same of these.
    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP> static constexpr __device__ int kept()
    {
        return ALONG_DEEP ? (OUT * DEEP + THREADS * 4 - 1) / (THREADS * 4) * 4 : 4;
    }

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP>
    __device__ __forceinline__ auto places(long long) const
    {
        constexpr int KEPT = kept<OUT, DEEP, THREADS, ALONG_DEEP>();
        place_owns<decltype(own(0)), KEPT> places;
#pragma unroll
        for (int k = 0; k < KEPT; k++)
            places.at[k] = own(out0 + out_of<OUT, DEEP, ALONG_DEEP>(threadIdx.x + k / 4 * THREADS, k % 4));
        return places;
    }

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A, typename PLACES>
    __device__ __forceinline__ void fetch(A (&held)[HELD], const PLACES &places, long long at, long long outs,
                                          long long depth) const
    {
        const int here = outs < OUT ? static_cast<int>(outs) : OUT;
        const int deep = depth - at < DEEP ? static_cast<int>(depth - at) : DEEP;
        static_assert(ALONG_DEEP || THREADS % (OUT / 4) == 0, "a thread's fours have the same rows or columns");
#pragma unroll
        for (int i = 0; i < HELD / 4; i++) {
            const int four = threadIdx.x + i * THREADS, d = deep_of<OUT, DEEP, ALONG_DEEP>(four);
            const auto within = window(deep0 + at + d);
            const bool exists = d < deep && four < OUT * DEEP / 4;
#pragma unroll
            for (int e = 0; e < 4; e++)
                held[i * 4 + e] = static_cast<A>(element(places.at[ALONG_DEEP ? i * 4 + e : e], within,
                                                         exists && out_of<OUT, DEEP, ALONG_DEEP>(four, e) < here));
        }
    }

    template <int OUT, int DEEP, int THREADS, bool ALONG_DEEP, int HELD, typename A>
    static __device__ __forceinline__ void put(A *to, const A (&held)[HELD])
    {
#pragma unroll
        for (int i = 0; i < HELD / 4; i++) {
            const int four = threadIdx.x + i * THREADS;
            if (four >= OUT * DEEP / 4)
                break;
#pragma unroll
            for (int e = 0; e < 4; e++)
                to[deep_of<OUT, DEEP, ALONG_DEEP>(four) * (OUT + 4) + out_of<OUT, DEEP, ALONG_DEEP>(four, e)] = held[i * 4 + e];
        }
    }
};

template <typename OWN, typename WINDOW, typename ELEMENT>
__device__ __forceinline__ simt_gathered<OWN, WINDOW, ELEMENT> simt_gather(const OWN &own, const WINDOW &window,
                                                                           const ELEMENT &element, long long out0,
                                                                           long long deep0)
{
    return {own, window, element, out0, deep0};
}
