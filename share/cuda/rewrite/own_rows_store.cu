#pragma unroll {{unroll}}
    for (int at = threadIdx.x; at < {{rows}} * {{width}}; at += {{threads}})
        {{pointer}}[{{from}}] = {{own}}[at / {{width}} * {{pitch}} + at % {{width}}];
