{{#ends}}
bool {{going}} = true;
{{/ends}}
for (long long {{first}} = ({{type}})({{start}}); {{#ends}}{{going}} && {{/ends}}{{first}} < {{limit}}; {{first}} += {{turns}}{{times}}) {
{{#every}}
    const int {{left}} = {{limit}} - {{first}} < {{turns}} ? (int)({{limit}} - {{first}}) : {{turns}};
{{/every}}
{{^every}}
    const long long {{left}} = {{limit}} - {{first}};
{{/every}}
{{#loads}}
    {{array}}
{{/loads}}
#pragma unroll
    for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++)
        if ({{turn}}{{times}} < {{left}}) {
            const {{type}} {{index}} = ({{type}})({{first}} + {{turn}}{{times}});
            {{ahead}}
        }
#pragma unroll
    for (int {{turn}} = 0; {{turn}} < {{turns}}; {{turn}}++) {
        if ({{turn}}{{times}} >= {{left}})
            break;
        const {{type}} {{index}} = ({{type}})({{first}} + {{turn}}{{times}});
        {{body}}
    }
}
