{ // It may begin before the kernel ahead has ended, and waits for that.
{{made}}{{indent}}    cudaLaunchConfig_t {{config}} = {};
{{settings}}
{{indent}}    {{config}}.attrs = {{attributes}};
{{indent}}    {{config}}.numAttrs = 1;
{{indent}}    cudaLaunchKernelEx(&{{config}}, {{kernel}}{{args}});
{{indent}}}
