    for (int {{bin}} = threadIdx.x; {{bin}} < {{bins}}; {{bin}} += blockDim.x)
        if ({{own}}[{{bin}}] != {{neutral}})
            {{call}}(&{{counters}}[{{bin}}], {{own}}[{{bin}}]);
