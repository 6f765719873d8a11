    // Each block counts by itself, and adds its counts once.
    __shared__ {{type}} {{own}}[{{bins}}];
    for (int {{bin}} = threadIdx.x; {{bin}} < {{bins}}; {{bin}} += blockDim.x)
        {{own}}[{{bin}}] = {{neutral}};
    __syncthreads();
