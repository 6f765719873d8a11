// Attributes, properties and occupancy are answered from the device that the plan is for.
__global__ void k(float *p, int a, int b, size_t c, int d)
{
}

extern "C" void go(float *p, int block, cudaStream_t stream)
{
    int device = -1, sms = 0, blocks, l2;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device);
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, block, 0);
    int least, best;
    cudaOccupancyMaxPotentialBlockSize(&least, &best, k, 0, 0);
    k<<<sms * blocks, best, 0, stream>>>(p, prop.multiProcessorCount, l2, prop.sharedMemPerBlockOptin, least);
}

// run: block=256
// launch k (1056,1,1) (1024,1,1) 0 [p, 132:i32, 62914560:i32, 232448:u64, 264:i32]
