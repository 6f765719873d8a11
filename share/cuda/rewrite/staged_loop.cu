{{#load}}
{{element}} {{held}}[{{turns}}];
#pragma unroll
for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++)
    {{held}}[{{turn}}] = {{inside}}{{before_first}}{{column}} < {{limit}} ? {{pointer}}[{{first_index}}] : {{zero}};
{{/load}}
for ({{type}} {{from}} = {{start}}, {{until}}; {{from}} < {{limit}}; {{from}} = {{until}}) {
    {{until}} = {{limit}} - {{from}} < {{step}} ? {{limit}} : {{from}} + {{step}};
    __syncwarp();
{{#load}}
#pragma unroll
    for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++)
        {{part}}[threadIdx.x - {{lane}} + {{row}}][{{column}}] = {{held}}[{{turn}}];
{{/load}}
{{#loads}}
    __syncwarp();
{{/loads}}
{{#load}}
#pragma unroll
    for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++) // on its way while the turns below are done
        {{held}}[{{turn}}] = {{inside}}{{until}} + {{column}} < {{limit}} ? {{pointer}}[{{next_index}}] : {{zero}};
{{/load}}
    {{loop}}
{{#stores}}
    __syncwarp();
{{/stores}}
{{#store}}
#pragma unroll 8
    for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++)
        if ({{inside}}{{from}} + {{column}} < {{until}})
            {{pointer}}[{{index}}] = {{part}}[threadIdx.x - {{lane}} + {{row}}][{{column}}];
{{/store}}
}
{{#stores}}
__syncwarp();
{{/stores}}
