// Values of a struct; an operator of it that no compiler takes, and that nobody needs.
struct Pair {
    float x, y;
};

__device__ inline Pair operator+(Pair a, Pair b)
{
    return Pair{a.x + b.x, a.y + b.y};
}

__device__ inline Pair operator*(Pair a, Pair b)
{
    return missing_helper(a, b);
}

__global__ void join_pairs(Pair *out, const Pair *a, const Pair *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
