// Overlapping with the launch before could not be timed.
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
}

// run: n=0
// launch k (1,1,1) (32,1,1) 0 [p]
// run: n=1
// error 17:24 programmatic stream serialization lets a kernel begin before the one ahead of it has ended, so that its time could not be told from its neighbour's; leave the attribute out
