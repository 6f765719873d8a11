#define TWO(a, b) ((a) + (b))

extern "C" void go(float *p, int rows, cudaStream_t stream)
{
    rows = TWO(1);
}

// open-error 5:12 macro TWO takes 2 arguments, not 1
