{{head}}
{
    // A block of threads computes a tile of {{tile_rows}} x {{tile_cols}} results, {{deep}} products of each at a time.
    constexpr int {{ROWS}} = {{tile_rows}}, {{COLS}} = {{tile_cols}}, {{DEEP}} = {{deep}}, {{SLAB}} = {{slab_rows}}, {{WIDE}} = {{COLS}} + {{pad}};
{{#dynamic}}
    extern __shared__ __align__(1024) unsigned char {{bytes}}[];
    {{acc_type}} *const {{memory}} = reinterpret_cast<{{acc_type}} *>({{bytes}});
{{/dynamic}}
{{^dynamic}}
    __shared__ __align__(128) {{acc_type}} {{memory}}[{{memory_size}}];
{{/dynamic}}
{{#any_uniform}}
    {{uniform}}
{{/any_uniform}}
    const long long {{rows}} = {{row_bound}}, {{cols}} = {{col_bound}}, {{depth}} = {{depth_bound}};
    long long {{row0}}, {{col0}};
    tile_place(blockIdx.x{{#shared}} / {{split}}{{/shared}}, {{rows}}, {{cols}}, {{ROWS}}, {{COLS}}, {{row0}}, {{col0}});
{{#gathered}}
    {{lambdas}}
{{#x_strided}}
    const long long {{x_out}} = {{x_out_is}}, {{x_deep}} = {{x_deep_is}};
{{/x_strided}}
{{#y_strided}}
    const long long {{y_out}} = {{y_out_is}}, {{y_deep}} = {{y_deep_is}};
{{/y_strided}}
{{/gathered}}
{{^gathered}}
    const long long {{x_out}} = {{x_out_is}}, {{x_deep}} = {{x_deep_is}}, {{y_out}} = {{y_out_is}}, {{y_deep}} = {{y_deep_is}};
{{/gathered}}
    {{acc_type}} {{sums}}{{sums_shape}};
{{#shared}}
    // The {{split}} blocks of a cluster have a part of the depth each.
    const int {{part}} = blockIdx.x % {{split}};
    const long long {{part_depth}} = ({{depth}} + {{split}} * {{DEEP}} - 1) / ({{split}} * {{DEEP}}) * {{DEEP}}, {{deep0}} = {{part}} * {{part_depth}};
{{#gathered}}
    {{blocks}}_product<{{ROWS}}, {{COLS}}, {{DEEP}}, {{product_args}}>({{sums}}, {{memory}}, {{x_operand}},
        {{y_operand}}, {{rows}} - {{row0}}, {{cols}} - {{col0}},
        {{depth}} - {{deep0}} < {{part_depth}} ? {{depth}} - {{deep0}} : {{part_depth}});
{{/gathered}}
{{^gathered}}
    {{blocks}}_product<{{ROWS}}, {{COLS}}, {{DEEP}}, {{product_args}}>({{sums}}, {{memory}}, {{x}} + {{row0}} * {{x_out}} + {{deep0}} * {{x_deep}}, {{x_out}}, {{x_deep}},
        {{y}} + {{col0}} * {{y_out}} + {{deep0}} * {{y_deep}}, {{y_out}}, {{y_deep}}, {{rows}} - {{row0}}, {{cols}} - {{col0}},
        {{depth}} - {{deep0}} < {{part_depth}} ? {{depth}} - {{deep0}} : {{part_depth}});
{{/gathered}}
{{/shared}}
{{^shared}}
{{#gathered}}
    {{blocks}}_product<{{ROWS}}, {{COLS}}, {{DEEP}}, {{product_args}}>({{sums}}, {{memory}}, {{x_operand}},
        {{y_operand}}, {{rows}} - {{row0}}, {{cols}} - {{col0}}, {{depth}});
{{/gathered}}
{{^gathered}}
    {{blocks}}_product<{{ROWS}}, {{COLS}}, {{DEEP}}, {{product_args}}>({{sums}}, {{memory}}, {{x}} + {{row0}} * {{x_out}}, {{x_out}}, {{x_deep}},
        {{y}} + {{col0}} * {{y_out}}, {{y_out}}, {{y_deep}}, {{rows}} - {{row0}}, {{cols}} - {{col0}}, {{depth}});
{{/gathered}}
{{/shared}}

{{#gathered}}
    {{col_ahead}}
{{/gathered}}
    // The sums go through shared memory, so that neighbouring threads finish and store neighbouring results.
#pragma unroll
    for (int {{slab}} = 0; {{slab}} < {{ROWS}} / {{SLAB}}; {{slab}}++) {
        {{blocks}}_stage<{{ROWS}}, {{COLS}}>({{memory}}, {{sums}}, {{slab}});
        {{barrier}};
#pragma unroll 4
        for (int {{e}} = {{#shared}}({{/shared}}threadIdx.x{{#shared}} + {{part}} * {{threads}}){{/shared}}{{#together}} * {{each}}{{/together}}; {{e}} < {{SLAB}} * {{COLS}}; {{e}} += {{all_threads}}) {
            const long long {{left}} = {{cols}} - {{col0}} - {{e}} % {{COLS}};
            if ({{row0}} + {{slab}} * {{SLAB}} + {{e}} / {{COLS}} >= {{rows}} || {{left}} <= 0)
                continue;
{{#together}}
            const tile_vector<{{acc_type}}, {{each}}> {{held}} = {{sums_of}}(&{{memory}}[{{e}} / {{COLS}} * {{WIDE}} + {{e}} % {{COLS}}]);
            tile_vector<{{stored_type}}, {{each}}> {{results}};
            {{stored_type}} *{{place}} = nullptr;
            const auto {{finish}} = [&](int {{j}}) {
{{#any_index}}
                {{indices}}
{{/any_index}}
{{#any_dependent}}
                {{dependent}}
{{/any_dependent}}
                {{acc_declared}}
                {{epilogue}}
            };
            if ({{left}} >= {{each}}) {
#pragma unroll
                for (int {{j}} = 0; {{j}} < {{each}}; {{j}}++)
                    {{finish}}({{j}});
            } else {
#pragma unroll
                for (int {{j}} = 0; {{j}} < {{each}}; {{j}}++)
                    if ({{j}} < {{left}})
                        {{finish}}({{j}});
            }
            tile_store({{place}}, {{results}}, {{left}});
{{/together}}
{{^together}}
            const {{acc_type}} {{held}} = {{sums_of}}(&{{memory}}[{{e}} / {{COLS}} * {{WIDE}} + {{e}} % {{COLS}}]).at[0];
{{#any_index}}
            {{indices}}
{{/any_index}}
{{#any_dependent}}
            {{dependent}}
{{/any_dependent}}
            {{acc_declared}}
            {{epilogue}}
{{/together}}
        }
        {{barrier}};
    }
}
