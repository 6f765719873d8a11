__global__ void k(float *p)
{
}
int calls = 0;

extern "C" void go(float *p, cudaStream_t stream)
{
    k<<<1, calls, 0, stream>>>(p);
}

// run:
// error 4:5 calls is a variable of the file; a launcher keeps no state
