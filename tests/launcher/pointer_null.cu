// Null pointers, comparisons with nullptr and as conditions.
__global__ void k(const float *a, float *b, int c)
{
}

extern "C" void go(const float *p, float *q, int n, cudaStream_t stream)
{
    const float *bias = nullptr;
    if (n > 1)
        bias = p;
    float *none = NULL;
    k<<<1, 1, 0, stream>>>(bias, none, (bias != nullptr) + !none + (q == q + 0));
}

// run: n=1
// launch k (1,1,1) (1,1,1) 0 [null, null, 2:i32]
// run: n=2
// launch k (1,1,1) (1,1,1) 0 [p, null, 3:i32]
