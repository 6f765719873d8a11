// What is judged must be what is shipped.
#ifdef __CUDACC_RTC__
#define SCALE 2
#else
#define SCALE 1
#endif
extern "C" void go(float *p, cudaStream_t stream)
{
}

// open-error 2:8 the file tests how it is compiled (__CUDACC_RTC__)
