// A member that is not understood, and one that nobody set.
__global__ void k(float *p)
{
}

extern "C" void go(float *p, int n, cudaStream_t stream)
{
    cudaLaunchConfig_t config;
    config.blockDim = 32;
    config.stream = stream;
    config.numAttrs = 0;
    if (n == 2) {
        cudaLaunchAttribute attribute;
        attribute.val.accessPolicyWindow = 1;
    }
    cudaLaunchKernelEx(&config, k, p);
}

// run: n=1
// error 16:24 the member dynamicSmemBytes of cudaLaunchConfig_t has no value
// run: n=2
// error 14:22 the member accessPolicyWindow of cudaLaunchAttributeValue is not understood; docs/task.md lists those that are
