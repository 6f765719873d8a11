{{head}}
{
    // A block adds up 32 results, each warp a part of their depth.
    __shared__ {{acc_type}} {{memory}}[{{threads}} / 32][32];
{{#any_uniform}}
    {{uniform}}
{{/any_uniform}}
    const long long {{rows}} = {{row_bound}}, {{depth}} = {{depth_bound}};
    const long long {{row0}} = (long long)blockIdx.x * 32 + threadIdx.x % 32;
    const {{acc_type}} {{sums}} = gemv_down_product({{memory}}, {{x}} + {{row0}} * ({{x_out_is}}), {{x_deep_is}}, {{y}}, {{y_deep_is}}, {{depth}}, {{row0}} < {{rows}});
    if (threadIdx.x < 32 && {{row0}} < {{rows}}) {
{{#any_index}}
        {{indices}}
{{/any_index}}
{{#any_dependent}}
        {{dependent}}
{{/any_dependent}}
        {{acc_declared}}
        {{epilogue}}
    }
}
