    __shared__ {{type}} {{own}}[{{bins}}];
    for (int {{bin}} = threadIdx.x; {{bin}} < {{bins}}; {{bin}} += blockDim.x)
        {{own}}[{{bin}}] = {{neutral}};
