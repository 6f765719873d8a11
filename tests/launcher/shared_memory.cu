// Dynamic shared memory beyond 48 KB needs the attribute, within the device's limit.
extern __shared__ char pool[];
template <int S> __global__ void k(float *p)
{
}

extern "C" void go(float *p, int kb, int ask, cudaStream_t stream)
{
    size_t bytes = (size_t)kb * 1024;
    if (ask) {
        cudaError_t e = cudaFuncSetAttribute(k<2>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (e != cudaSuccess)
            return;
    }
    k<2><<<1, 32, bytes, stream>>>(p);
}

// run: kb=48
// launch k<2> (1,1,1) (32,1,1) 49152 [p]
// run: kb=96
// error 15:5 98304 bytes of dynamic shared memory, above the default limit of 49152
// run: kb=96 ask=1
// launch k<2> (1,1,1) (32,1,1) 98304 [p]
// run: kb=500 ask=1
// nothing
