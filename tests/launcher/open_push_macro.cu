// A macro saved and brought back: g++ does it, not every reader.
#define BLOCK 128
#pragma push_macro("BLOCK")
#undef BLOCK
#define BLOCK 64
#pragma pop_macro("BLOCK")
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    k<<<n, BLOCK, 0, stream>>>(p);
}

// open-error 3:9 #pragma push_macro is not understood
