// By what a sum is multiplied, from what its weights are together; and one or two neighbouring results.
template <bool ZERO> // where there are no weights
__device__ __forceinline__ float attention_inverse(float weights)
{
    return ZERO && weights == 0.0f ? 0.0f : 1.0f / weights;
}

template <typename R> struct __align__(2 * sizeof(R)) attention_two
{
    R low, high;
};

template <typename R>
__device__ __forceinline__ void attention_store(R *to, float low, float high, bool together, bool both)
{
    if (together) {
        *reinterpret_cast<attention_two<R> *>(to) = {static_cast<R>(low), static_cast<R>(high)};
    } else {
        to[0] = static_cast<R>(low);
        if (both)
            to[1] = static_cast<R>(high);
    }
}
