// Nor are the initialisers of members.
struct Params {
    float *p;
    int n = 3;
};
__global__ void k(Params params)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    Params params;
    k<<<1, 1, 0, stream>>>(params);
}

// run: n=1
// error 12:12 a variable of type Params, which has a constructor or initial values of members; give the values where
