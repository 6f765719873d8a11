    __syncthreads();
    for (int {{bin}} = threadIdx.x; {{bin}} < {{bins}}; {{bin}} += blockDim.x)
        if ({{own}}[{{bin}}] != 0)
            atomicAdd(&{{counters}}[{{bin}}], {{own}}[{{bin}}]);
