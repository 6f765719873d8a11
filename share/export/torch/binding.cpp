// The launcher of kernel.cu as operators of PyTorch, made by `astra export`. README.md says how to build and call them.
#include <Python.h>

#define OP_NAME "{{op}}"
#include "check.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/library.h>

#include <tuple>

#ifndef OP_NAMESPACE // the test builds the original beside it, under another name
#define OP_NAMESPACE {{package}}
#endif
#ifndef OP_DEVICE
#define OP_DEVICE CUDA
#endif

extern "C" {{#returns}}int{{/returns}}{{^returns}}void{{/returns}} {{entry}}({{#args}}{{type}}, {{/args}}cudaStream_t);

namespace astra_op {

struct Shape {
    Int {{#dims}}{{comma}}{{name}}{{/dims}};
};

void check_domain(const Shape &shape)
{
{{#domain}}
    check_holds({{holds}}, "{{words}}");
{{/domain}}
{{^domain}}
    (void)shape;
{{/domain}}
}

// Refuses what the kernel was not verified for; then launches it on the current stream.
void launch(const Shape &shape{{#operands}}, {{cpp}}{{name}}{{/operands}})
{
    const c10::Device device = {{first}}.device();

    check_domain(shape);
{{#tensors}}
    check_tensor("{{name}}", {{name}}, device, {{at}}, {{{extents}}}, "[{{words}}]");
{{/tensors}}
{{#pairs}}
    check_apart("{{a}}", {{a}}, "{{b}}", {{b}});
{{/pairs}}
{{#numbers}}
    check_number({{name}}, {{{values}}}, "{{name}}");
{{/numbers}}

    const c10::cuda::CUDAGuard guard(device);
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
    const Placed placed[] = {{{#buffers}}{{comma}}{"{{name}}", {{#scratch}}room({{{values}}}, {{first}}.options().dtype({{at}}), {{align}}){{/scratch}}{{^scratch}}{{name}}{{/scratch}}, {{align}}}{{/buffers}}};
    {{#returns}}const int status = {{/returns}}::{{entry}}({{#args}}{{#buffer}}placed[{{number}}].{{#constant}}read{{/constant}}{{^constant}}written{{/constant}}<{{element}}>(){{/buffer}}{{#converted}}{{with}}(static_cast<float>({{name}})){{/converted}}{{#cast}}static_cast<{{element}}>({{name}}){{/cast}}{{#computed}}fit<{{element}}>({{value}}, "{{words}}"){{/computed}}, {{/args}}stream);
{{#returns}}
    TORCH_CHECK(status == 0, said("the launcher returned ", std::to_string(status)));
{{/returns}}
    C10_CUDA_KERNEL_LAUNCH_CHECK();
{{#written}}
    placed[{{number}}].write_back();
{{/written}}
}

{{#operators}}
{{#makes}}{{#single}}at::Tensor{{/single}}{{^single}}std::tuple<{{#written}}{{comma}}at::Tensor{{/written}}>{{/single}}{{/makes}}{{^makes}}void{{/makes}} {{function}}({{#parameters}}{{comma}}{{cpp}}{{name}}{{/parameters}})
{
    const at::AutoDispatchBelowADInplaceOrView no_gradient;
    Shape shape;

{{#ranked}}
    check_rank("{{name}}", {{name}}, {{rank}});
{{/ranked}}
{{#steps}}
    shape.{{dim}} = {{cpp}};
{{/steps}}
{{#makes}}
    check_domain(shape);
    at::Tensor made[{{n_written}}];
{{#written}}
    made[{{i}}] = {{#updated}}{{name}}.clone(at::MemoryFormat::Contiguous){{/updated}}{{^updated}}at::empty({{{values}}}, {{first}}.options().dtype({{at}})){{/updated}};
{{/written}}
{{/makes}}
    launch(shape{{#handed}}, {{name}}{{/handed}});
{{#makes}}
    return {{#single}}made[0]{{/single}}{{^single}}{{{#written}}{{comma}}made[{{i}}]{{/written}}}{{/single}};
{{/makes}}
}

{{/operators}}
} // namespace astra_op

TORCH_LIBRARY_FRAGMENT(OP_NAMESPACE, m)
{
{{#operators}}
    m.def("{{schema}}");
{{/operators}}
}

TORCH_LIBRARY_IMPL(OP_NAMESPACE, OP_DEVICE, m)
{
{{#operators}}
    m.impl("{{op}}{{suffix}}", &astra_op::{{function}});
{{/operators}}
}

// Importing the extension is what registers the operators; the module itself is empty.
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
#define QUOTE(a) QUOTE_(a)
#define QUOTE_(a) #a
PyMODINIT_FUNC JOIN(PyInit_, TORCH_EXTENSION_NAME)()
{
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, QUOTE(TORCH_EXTENSION_NAME), nullptr, -1, nullptr};

    return PyModule_Create(&module);
}
