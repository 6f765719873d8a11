#define BLOCK 128 // astra: tune
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 1:19 `astra: tune` has no values
