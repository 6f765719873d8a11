// cudaLaunchKernelEx: clusters and cooperative launches as attributes.
template <int N> __global__ void k(float *p, int n)
{
}

__global__ void __cluster_dims__(2, 1, 1) named(float *p)
{
}

static void configure(cudaLaunchConfig_t &config, int blocks, cudaStream_t stream)
{
    config.gridDim = blocks;
    config.blockDim.x = 64;
    config.stream = stream;
}

extern "C" cudaError_t go(float *p, int n, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {0};
    configure(config, n, stream);
    cudaLaunchAttribute attribute[2];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    attribute[1].id = cudaLaunchAttributeCooperative;
    attribute[1].val.cooperative = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaError_t e = cudaLaunchKernelEx(&config, k<2>, p, n);
    if (e != cudaSuccess)
        return e;
    config.numAttrs = 2;
    config.dynamicSmemBytes = 1024;
    cudaFuncSetAttribute(k<3>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    attribute[0].val.clusterDim = {16, 1, 1};
    cudaLaunchKernelEx(&config, k<3>, p + 1, 2L * n);
    int clusters = 0;
    cudaOccupancyMaxActiveClusters(&clusters, k<3>, &config);
    cudaLaunchConfig_t plain{dim3(clusters, 2), dim3(32), 0, stream};
    auto kernel = k<1>;
    void *args[] = {&p, &n};
    cudaLaunchKernelExC(&plain, (void *)kernel, args);
    named<<<2, 32, 0, stream>>>(p);
    return cudaGetLastError();
}

// run: n=16
// launch k<2> (16,1,1) (64,1,1) 0 cluster 4,1,1 [p, 16:i32]
// cooperative k<3> (16,1,1) (64,1,1) 1024 cluster 16,1,1 large [p+4, 32:i32]
// launch k<1> (264,2,1) (32,1,1) 0 [p, 16:i32]
// launch named (2,1,1) (32,1,1) 0 [p]
