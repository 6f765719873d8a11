struct Params {
    float *p;
    int n;
};
__global__ void k(Params params)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<1, 1, 0, stream>>>(Params{p, n});
}

// run: n=1
// error 11:28 a value of type Params; a launcher's values are numbers, pointers and dim3
