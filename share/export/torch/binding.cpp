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
#define OP_NAMESPACE {{namespace}}
#endif
#ifndef OP_DEVICE
#define OP_DEVICE CUDA
#endif

{{declaration}}

namespace astra_op {

struct Shape {
    Int {{members}};
};

void check_domain(const Shape &shape)
{
{{domain}}
}

// Refuses what the kernel was not verified for; then launches it on the current stream.
void launch({{launch_parameters}})
{
{{launch_body}}
}

void into({{into_parameters}})
{
{{into_body}}
}

{{functional}}
} // namespace astra_op

TORCH_LIBRARY_FRAGMENT(OP_NAMESPACE, m)
{
{{schemas}}
}

TORCH_LIBRARY_IMPL(OP_NAMESPACE, OP_DEVICE, m)
{
{{implementations}}
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
