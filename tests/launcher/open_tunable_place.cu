int block = 128; // astra: tune 64 128
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 1:18 `astra: tune` stands behind `constexpr int NAME = number;`
