constexpr int BLOCK = 128; // astra: tune 64 many
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 1:28 `astra: tune` has the value many; values are numbers
