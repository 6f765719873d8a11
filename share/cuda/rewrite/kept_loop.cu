{{arrays}}
#pragma unroll
{{indent}}for (int {{item}} = 0; {{item}} < {{steps}}; {{item}}++) {
{{indent}}    const {{type}} {{index}} = {{start}} + {{item}} * {{step}};
{{indent}}    if ({{index}} < {{bound}}){{gap}}{{body}}
{{indent}}}
