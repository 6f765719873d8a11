    __shared__ {{type}} {{own}}[{{threads}} * {{pitch}}];
#pragma unroll {{unroll}}
    for (int at = threadIdx.x; at < {{rows}} * {{width}}; at += {{threads}})
        {{own}}[at / {{width}} * {{pitch}} + at % {{width}}] = {{pointer}}[{{from}}];
