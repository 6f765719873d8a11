// A whole number that all threads divide by, as numbers that the launcher makes of it once.
struct fast_divisor {
    unsigned by, times, more, shift;
};

inline fast_divisor fast_divisor_of(unsigned by)
{
    fast_divisor d = {by > 0 ? by : 1, 0, 0, 0};
    while (d.shift < 32 && (1ull << d.shift) < d.by)
        d.shift++;
    d.times = (unsigned)((1ull << (31 + d.shift)) / d.by + 1);
    d.more = (unsigned)((((1ull << d.shift) - d.by) << 32) / d.by + 1);
    return d;
}

// Of what lies from 0 to 2^31 - 1.
__device__ __forceinline__ int fast_quotient(int x, const fast_divisor &d)
{
    return (int)(__umulhi(2u * (unsigned)x, d.times) >> d.shift);
}

__device__ __forceinline__ unsigned fast_quotient(unsigned x, const fast_divisor &d)
{
    const unsigned t = __umulhi(x, d.more);
    return d.shift ? (t + ((x - t) >> 1)) >> (d.shift - 1) : x;
}

template <typename T> __device__ __forceinline__ T fast_remainder(T x, const fast_divisor &d)
{
    return x - fast_quotient(x, d) * (T)d.by;
}
