// A constructor is code that is not run here.
struct Params {
    float *p;
    int n;
    __host__ __device__ Params(float *q, int m) : p(q), n(m + 1)
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
// error 15:28 a value of type Params; a launcher's values are numbers, pointers, dim3 and plain structs of these
