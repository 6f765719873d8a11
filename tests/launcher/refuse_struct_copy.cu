// How a value is copied is code that is not run here.
struct Params {
    float *p;
    int n;
    Params(float *q, int m) : p(q), n(m + 1)
    {
    }
    Params(const Params &o) : p(o.p), n(o.n + 1)
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
// error 18:28 a value of type Params; a launcher's values are numbers, pointers, dim3 and plain structs of these
