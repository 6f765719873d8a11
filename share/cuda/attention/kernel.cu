{{head}}
{
    // A block of threads takes {{tile_rows}} queries of a head, and walks over their keys, {{tile_keys}} at a time.
    extern __shared__ __align__(128) unsigned char {{memory}}[];
{{#any_uniform}}
    {{uniform}}
{{/any_uniform}}
    const long long {{rows}} = {{row_bound}};
{{#any_tiles}}
    const long long {{tiles}} = ({{rows}} + {{less}}) / {{tile_rows}};
{{/any_tiles}}
{{#head_asked}}
    const {{head_type}} {{head_name}} = static_cast<{{head_type}}>(blockIdx.x / {{tiles}});
{{/head_asked}}
{{#any_behind}}
    {{uniform_behind}}
{{/any_behind}}
    const long long {{keys}} = {{key_bound}}, {{diagonal}} = {{diagonal_is}};
    const long long {{row0}} = {{tile_is}} * {{tile_rows}};
    const long long {{out_step}} = {{out_step_is}}, {{q_step}} = {{q_step_is}};
    attention_{{blocks}}<{{tile_rows}}, {{tile_keys}}, {{depth}}, {{tiles_a_warp}}, {{zero}}>({{memory}}, {{out}} + {{row0}} * {{out_step}}, {{out_step}},
        {{q}} + {{row0}} * {{q_step}}, {{q_step}}, {{k}}, {{k_step_is}}, {{v}}, {{v_step_is}}, {{rows}} - {{row0}}, {{keys}},
        {{row0}} + {{diagonal}}, {{scale}});
}
