// A launch that may begin before the one ahead of it has ended.
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = n;
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 32;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, k, p);
    void *args[] = {&p};
    cudaLaunchKernelExC(&config, (void *)k, args);
}

// run: n=0
// launch k (1,1,1) (32,1,1) 0 [p]
// launch k (1,1,1) (32,1,1) 0 [p]
// run: n=1
// launch k (1,1,1) (32,1,1) 0 programmatic [p]
// launch k (1,1,1) (32,1,1) 0 programmatic [p]
