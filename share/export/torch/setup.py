"""Builds {{package}}: `pip install --no-build-isolation .`, or in place `python setup.py build_ext --inplace`.

ninja is used where there is one. With ASTRA_WITH_ORIGINAL=1 the original is built too, for the test. Without a GPU
the code is for {{arch}}; TORCH_CUDA_ARCH_LIST names others.
"""

import os

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

# As the kernel was judged; PyTorch's own flags would take the operators of half away.
NVCC = [{{flags}}"-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__CUDA_NO_HALF2_OPERATORS__",
        "-U__CUDA_NO_BFLOAT16_CONVERSIONS__"]
# Two versions of one launcher may be loaded in one process: neither shows its symbols.
HIDDEN = "-fvisibility=hidden"

if not torch.cuda.is_available():
    os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "{{arch}}")


def extension(name, *sources):
    here = os.path.dirname(os.path.abspath(__file__))
    return CUDAExtension(f"{{package}}.{name}", list(sources), include_dirs=[os.path.join(here, "csrc")],
                         extra_compile_args={"cxx": ["-O2", HIDDEN], "nvcc": ["-O3", *NVCC, "-Xcompiler", HIDDEN]})


extensions = [extension("_C", "csrc/binding.cpp", "csrc/kernel.cu")]
if os.environ.get("ASTRA_WITH_ORIGINAL"):
    extensions.append(extension("_original", "test/original_binding.cpp", "test/original.cu"))

setup(name="{{package}}", version="0.1", packages=["{{package}}"], ext_modules=extensions,
      cmdclass={"build_ext": BuildExtension}, zip_safe=False)
