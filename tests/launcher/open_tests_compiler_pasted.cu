#define JOIN(a, b) a##b
__device__ const char *where = JOIN(__FI, LE__);
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 2:37 the file tests how it is compiled (__FILE__)
