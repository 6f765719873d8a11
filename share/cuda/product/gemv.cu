{{head}}
{
    // Each warp adds up one row.
{{#any_uniform}}
    {{uniform}}
{{/any_uniform}}
    const long long {{rows}} = {{row_bound}}, {{depth}} = {{depth_bound}};
    const long long {{row0}} = (long long)blockIdx.x * {{tile_rows}} + threadIdx.x / 32;
    if ({{row0}} >= {{rows}})
        return;
    const {{acc_type}} {{sums}} = gemv_product<{{acc_type}}>({{x}} + {{row0}} * ({{x_out_is}}), {{x_deep_is}}, {{y}}, {{y_deep_is}}, {{depth}});
    if (threadIdx.x % 32 == 0) {
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
