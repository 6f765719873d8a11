#define BLOCK 128 // astra: tunes 1 2
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 1:19 `astra:` is followed by `tune` and values
