{ // It may begin before the kernel ahead has ended, and waits for that.
{{indent}}    cudaLaunchAttribute {{attribute}};
{{indent}}    {{attribute}}.id = cudaLaunchAttributeProgrammaticStreamSerialization;
{{indent}}    {{attribute}}.val.programmaticStreamSerializationAllowed = 1;
{{indent}}    cudaLaunchConfig_t {{config}} = {};
{{settings}}
{{indent}}    {{config}}.attrs = &{{attribute}};
{{indent}}    {{config}}.numAttrs = 1;
{{indent}}    cudaLaunchKernelEx(&{{config}}, {{kernel}}{{args}});
{{indent}}}
