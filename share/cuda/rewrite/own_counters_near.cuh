// Goes to the block's own counter where there is one for this place, else to the common one.
template <int N, typename T, typename V>
__device__ __forceinline__ void {{name}}(T *own, const T *common, T *to, V value)
{
    const long long k = to - common;
    if (k >= 0 && k < N)
        {{call}}(&own[k], T(value));
    else
        {{call}}(to, T(value));
}
