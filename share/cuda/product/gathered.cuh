// Division of what lies below 2^31, by multiplication.
struct place_divisor {
    unsigned int by, times, shift;

    __device__ __forceinline__ explicit place_divisor(unsigned int n) : by(n > 0 ? n : 1)
    {
        shift = by > 1 ? 32 - __clz(by - 1) : 0;
        times = static_cast<unsigned int>((1ull << (31 + shift)) / by + 1);
    }
};

// The last digit of a place, which goes from it.
__device__ __forceinline__ unsigned int place_digit(unsigned int &place, const place_divisor &d)
{
    const unsigned int all = place;
    place = __umulhi(2 * place, d.times) >> d.shift;
    return all - place * d.by;
}

// What is `own` to each of a thread's rows or columns, in registers.
template <typename OWN, int N> struct place_owns {
    OWN at[N];
};
