// What a base's constructor does is not run here.
struct Base {
    float *p;
    Base(float *q) : p(q)
    {
    }
};
struct Params : Base {
    int n;
    __host__ __device__ Params(float *q, int m) : Base(q), n(m + 1)
    {
    }
};
__global__ void k(Params params)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(Params(p, n));
}

// run: n=1
// error 20:28 a value of type Params; a launcher's values are numbers, pointers, dim3 and plain structs of these
