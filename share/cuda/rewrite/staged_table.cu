{{#ends}}
bool {{going}} = {{inside}};
{{/ends}}
{{#parts}}
for ({{type}} {{from}} = {{start}}, {{until}}; {{from}} < {{limit}}; {{from}} = {{until}}) {
    {{until}} = {{limit}} - {{from}} < {{rows}} ? {{limit}} : {{from}} + {{rows}};
{{/parts}}
{{#whole}}
    __syncthreads();
{{/whole}}
{{#ends}}
    if (!__syncthreads_or({{going}}))
        break;
{{/ends}}
{{#table}}
{{margin}}for (int {{at}} = threadIdx.x{{low}}; {{at}} < {{end}}; {{at}} += blockDim.x)
{{margin}}    {{name}}[{{at}}] = {{pointer}}[{{index}}];
{{/table}}
{{margin}}__syncthreads();
{{margin}}{{loop}}
{{#parts}}
}
{{/parts}}
