"""{{what}}

It is compiled when it is first called, with the flags that it was judged with:{{flag_words}}
"""

import hashlib
import os

import torch
from torch.utils import cpp_extension

SOURCES = {{sources}}

_op = None


def _build():
    key = hashlib.sha256(repr(sorted(SOURCES.items())).encode()).hexdigest()[:16]
    space = "astra_" + key  # apart from all others in the process
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(cache, "astra_export", key)
    for name, text in SOURCES.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{path}.{os.getpid()}", path)
    cpp_extension.load(space, [os.path.join(folder, "binding.cpp"), os.path.join(folder, "kernel.cu")],
                       is_python_module=False, build_directory=folder, extra_cflags=["-O2", "-fvisibility=hidden", "-DOP_NAMESPACE=" + space],
                       extra_cuda_cflags=["-O3", {{flags}}"-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__",
                                          "-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__",
                                          "-Xcompiler", "-fvisibility=hidden"])
    return getattr(torch.ops, space).{{op}}


def run({{parameters}}):
    global _op
    if _op is None:
        _op = _build()
    return _op({{call}})
