"""The forms in which public repositories write kernels: each task here is judged sound, or made faster, as it stands."""

import os

from harness import astra, cases, expect, main, read, said, write

TASK = """name: forms
source: kernel.cu
entry: run
args:
  - {name: out, type: f32, shape: [n], role: out}
  - {name: in, type: f32, shape: [n], role: in}
  - {name: n, type: i32, value: n}
dims: [n]
domain: [n >= 1, n <= 4194304]
workloads:
  - [1048576]
"""

LAUNCH = """
extern "C" void run(float *out, const float *in, int n, cudaStream_t stream)
{
    %s
}
"""

PLAIN = """
__global__ void twice(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}
""" + LAUNCH % "twice<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);"


def kernel(statement, parameters="", before="", template=""):
    return f"""{before}
{template} __global__ void work(float *out, const float *in, int n{parameters})
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        {statement}
    }}
}}
"""


GRID = "<<<(n + 127) / 128, 128, 0, stream>>>"

FORMS = {
    "short names of unsigned types": "#include <cuda_runtime.h>" + kernel(
        "uint j = i; ushort one = 1; out[j] = in[j] + float(one);") + LAUNCH % f"work{GRID}(out, in, n);",
    "default arguments": kernel("out[i] = in[i] * scale + float(add);", ", float scale = 2.0f, int add = 1")
    + LAUNCH % f"work{GRID}(out, in, n); work{GRID}(out, in, n, 3.0f);",
    "a tag": "#include <type_traits>" + kernel(
        "out[i] = Round ? rintf(in[i]) : in[i];", ", std::bool_constant<Round>", template="template <bool Round>")
    + LAUNCH % f"work{GRID}(out, in, n, std::true_type{{}});",
    "vector types by value": kernel(
        "out[i] = in[i] * w.x + w.w + float(div.x);", ", float4 w, uint3 div")
    + LAUNCH % f"work{GRID}(out, in, n, make_float4(2, 0, 0, 1), make_uint3(n, 1, 2));",
    "a packed struct": kernel(
        "out[i] = in[i] * c.scale + float(c.kind);", ", Config c",
        before="#pragma pack(push, 1)\nstruct Config { char kind; float scale; };\n#pragma pack(pop)")
    + LAUNCH % f"Config c = {{3, 1.5f}}; work{GRID}(out, in, n, c);",
    "a lambda of the device": kernel(
        "auto f = [=] __device__(float x) { return x + float(n & 3); }; out[i] = f(in[i]);")
    + LAUNCH % f"work{GRID}(out, in, n);",
    "headers of the standard library": "\n".join(
        f"#include <{h}>" for h in ("numeric", "initializer_list", "array", "functional", "tuple", "optional", "atomic"))
    + kernel("""std::array<float, 3> a = {in[i], 1.0f, 2.0f};
        auto both = std::make_tuple(a[0], std::plus<float>()(a[1], a[2]));
        float sum = 0;
        for (float x : {std::get<0>(both), std::get<1>(both)})
            sum += x;
        std::optional<float> some = sum;
        out[i] = std::accumulate(a.begin(), a.end(), some.value_or(0.0f)) + float(std::gcd(12, 18));""")
    + LAUNCH % f"work{GRID}(out, in, n);",
    "kernels in namespaces": "namespace a::b {" + PLAIN.split("extern")[0] + "}\nnamespace c = a::b;"
    + LAUNCH % f"c::twice{GRID}(out, in, n);",
}


def task(folder, text, more=""):
    write(os.path.join(folder, "t/task.yaml"), TASK + more)
    write(os.path.join(folder, "t/kernel.cu"), text)
    return "t"


@cases(FORMS.items())
def is_sound(folder, form):
    name, text = form
    done = said(astra(folder, "check", task(folder, text, "flags: [--extended-lambda]\n")), 0)
    expect("The task is sound" in done.out, name + ": " + done.out)


FAST = {
    "alone": PLAIN,
    "in a namespace": "namespace a {" + PLAIN.replace("extern", "}\nextern").replace("twice<<<", "a::twice<<<"),
    "all in a namespace": "namespace a {" + PLAIN + "}",
    "with a default argument": PLAIN.replace("int n)\n", "int n, float by = 2.0f)\n", 1).replace("2.0f *", "by *"),
}


@cases(FAST.items())
def is_made_as_fast(folder, form):
    """Wide accesses, whatever stands around the kernel."""
    name, text = form
    said(astra(folder, "optimize", task(folder, text), "--out", "run", "--rounds", "2"), 0)
    best = read(os.path.join(folder, "run/best.cu"))
    expect("twice_vec4<<<" in best, name + ":\n" + best)


main()
