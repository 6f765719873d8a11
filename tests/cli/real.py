"""The forms in which public repositories write kernels: each task here is judged sound, or made faster, as it stands."""

import json
import os
import subprocess
import sys

from harness import ASTRA, ROOT, astra, case, cases, expect, main, read, said, without_nvcc, write

without_nvcc()

TASK = """name: forms
source: kernel.cu
entry: run
args:
  - {name: out, type: f32, shape: [n], role: out}
  - {name: in, type: f32, shape: [n], role: in}
  - {name: n, type: i32, value: n}
dims: [n]
domain: [n >= 1, n <= 1048576]
workloads:
  - [65536]
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


FORMS.update({
    "branches for another platform": """#ifdef USE_ROCM
#include <hip/hip_runtime.h>
#if defined(__GFX9__) || __has_include(<hip/hip_fp8.h>)
#define WARP 64
#endif
#elif defined(__gfx1100__)
#define WARP 64
#else
#include <cuda_runtime.h>
#define WARP 32
#endif
#if 0
__global__ void broken(unknown_type *p);
#endif
#if __CUDA_ARCH__ >= 800
#define FROM_SM80 1
#endif
#ifdef FROM_SM80
__device__ float add() { return 1.0f; }
#else
__device__ float add() { return 1.0f; }
#endif
""" + kernel("out[i] = in[i] + float(WARP) + add();") + LAUNCH % f"work{GRID}(out, in, n);",
    "a macro that checks errors": """#include <cstdio>
#include <cstdlib>
#define CHECK_CUDA(x)                                                                        \\
    do {                                                                                     \\
        cudaError_t e = (x);                                                                 \\
        if (e != cudaSuccess) {                                                              \\
            fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(e));      \\
            exit(1);                                                                         \\
        }                                                                                    \\
    } while (0)
""" + kernel("out[i] = in[i] + 1.0f;") + LAUNCH % f"work{GRID}(out, in, n); CHECK_CUDA(cudaGetLastError());",
    "a name that the flags define": """#ifdef WIDTH
constexpr int block = WIDTH;
#else
#error the flags say it
#endif
""" + kernel("out[i] = in[i] + 1.0f;")
    + LAUNCH % "work<<<(n + block - 1) / block, block, 0, stream>>>(out, in, n);",
})

RUN = {
    "traits, and kernels that enable_if tells apart": """#include <type_traits>
template <int N> constexpr int threads = 32 * N;
template <typename T> struct Convert {
    static constexpr bool exists = false;
};
template <> struct Convert<float> {
    static constexpr bool exists = true;
    static constexpr int lanes = 4;
    using wide = float4;
    float scale[lanes];
};
template <typename T, int W>
__global__ std::enable_if_t<(W > 1) && Convert<T>::exists> work(T *out, const T *in, int n, Convert<T> by, dim3 d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * by.scale[i % W] + float(d.y);
}
template <typename T, int W>
__global__ std::enable_if_t<W == 1 || !Convert<T>::exists> work(T *out, const T *in, int n, Convert<T> by, dim3 d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * by.scale[0];
}
""" + LAUNCH % """using Traits = Convert<float>;
    Traits by = {{1, 2, 3, 4}};
    constexpr int block = threads<Traits::lanes>, shared = sizeof(typename Traits::wide);
    if (n % 2)
        work<float, 1><<<(n + block - 1) / block, dim3(threads<4>), shared, stream>>>(out, in, n, by, dim3(1));
    else
        work<float, Traits::lanes><<<(n + block - 1) / block, block, shared, stream>>>(out, in, n, by, dim3(1, n));""",
    "values of the launcher in constant memory": """struct Params { float scale; int add; };
namespace a { __constant__ Params params[2]; }
__constant__ float table[4];
__constant__ int unused;
""" + kernel("out[i] = in[i] * table[i & 3] * a::params[1].scale + a::params[1].add;") + LAUNCH % f"""
    float host[4] = {{1, 2, 3, float(n)}};
    Params p = {{3.0f, n}};
    cudaMemcpyToSymbolAsync(table, host, sizeof(host), 0, cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbolAsync(a::params, &p, sizeof(p), sizeof(p), cudaMemcpyHostToDevice, stream);
    cudaMemcpyToSymbolAsync(unused, &n, sizeof(n), 0, cudaMemcpyHostToDevice, stream);
    work{GRID}(out, in, n);""",
    "names of the toolkit's functions, untyped pointers, words for operators": "#include <cmath>\n"
    + kernel("if (not (i == 3 and n > 5) or n == 7) out[i] = in[i] + 1.0f; else out[i] = in[i];").replace("work", "norm")
    + """
__global__ void any(void *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        static_cast<float *>(out)[i] *= 2.0f;
}
static void twice(void *out, int n, cudaStream_t stream)
{
    any<<<(n + 127) / 128, 128, 0, stream>>>(out, n);
}
""" + LAUNCH % f"if (not (n < 1) and n != 0) norm{GRID}(out, in, n); twice(out, n, stream);",
}

OPS = """#pragma once
#include <cstdio>
#include <string>
#include <vector>
#define CHECK(x) check((x), __FILE__, __LINE__)
inline void check(cudaError_t e, const char *file, int line)
{
    if (e != cudaSuccess)
        printf("%s:%d %s\\n", file, line, cudaGetErrorString(e));
}
namespace ops {
static std::vector<std::string> names;
inline std::string describe(int n)
{
    std::string s = "n=" + std::to_string(n);
    names.push_back(s);
    return s;
}
inline int blocks(int n)
{
    return (n + 127) / 128;
}
__device__ inline float twice(float x)
{
    return 2.0f * x;
}
inline void launch_twice(float *out, const float *in, int n, cudaStream_t stream);
}
"""


def task(folder, text, more=""):
    write(os.path.join(folder, "t/task.yaml"), TASK + more)
    write(os.path.join(folder, "t/kernel.cu"), text)
    return "t"


@cases(FORMS.items(), every=5)
def is_sound(folder, form):
    name, text = form
    done = said(astra(folder, "check", task(folder, text, "flags: [--extended-lambda, -DWIDTH=64]\n"), "--mutants", "8"), 0)
    expect("The task is sound" in done.out, name + ": " + done.out)


@cases(RUN.items())
def is_run(folder, form):
    name, text = form
    done = said(astra(folder, "sanitize", task(folder, text)), 0)
    expect("no finding in" in done.out, name + ": " + done.out)


def with_header(folder, header, body="ops::twice(in[i])"):
    text = '#include "inc/ops.cuh"\n' + kernel(f"out[i] = {body};")
    text += LAUNCH % "work<<<ops::blocks(n), 128, 0, stream>>>(out, in, n);"
    write(os.path.join(folder, "t/inc/ops.cuh"), header)
    return task(folder, text, "headers: [inc/ops.cuh]\n")


@case
def a_header_with_host_code(folder):
    done = said(astra(folder, "check", with_header(folder, OPS), "--mutants", "8"), 0)
    expect("The task is sound" in done.out, done.out)


@case
def faults_in_a_header_have_its_lines(folder):
    broken = OPS.replace("(n + 127) / 128;", "(n + 127) / wide(n);")
    said(astra(folder, "check", with_header(folder, broken)), 2, r"inc/ops.cuh:21:\d+.*wide")
    broken = OPS.replace("2.0f * x", "two * x")
    said(astra(folder, "check", with_header(folder, broken)), 2, r'ops.cuh\(25\): error: identifier "two"')


@case
def an_original_does_not_cheat(folder):
    """What it asks is not understood; a candidate that asks it cheats."""
    text = PLAIN.replace("2.0f * in[i]", "clock64() ? 2.0f * in[i] : 0.0f")
    done = said(astra(folder, "check", task(folder, text)), 2, "not-understood: the kernel reads the cycle counter")
    expect("cheat" not in done.err, done.err)


FAST = {
    "alone": PLAIN,
    "in a namespace": "namespace a {" + PLAIN.replace("extern", "}\nextern").replace("twice<<<", "a::twice<<<"),
    "all in a namespace": "namespace a {" + PLAIN + "}",
    "with a default argument": PLAIN.replace("int n)\n", "int n, float by = 2.0f)\n", 1).replace("2.0f *", "by *"),
}


@cases(FAST.items(), every=4)
def is_made_as_fast(folder, form):
    """Wide accesses, whatever stands around the kernel."""
    name, text = form
    task(folder, text)
    write(os.path.join(folder, "t/task.yaml"), TASK.replace("[65536]", "[1048576]"))  # where a launch does not take most of the time
    said(astra(folder, "optimize", "t", "--out", "run", "--rounds", "2", "--tune-budget", "0", "--min-mutation", "0"), 0)
    best = read(os.path.join(folder, "run/best.cu"))
    expect("twice_vec4<<<" in best, name + ":\n" + best)


def tool(folder, name, *args):
    return subprocess.run([sys.executable, os.path.join(ROOT, "tools/real", name), *args], cwd=folder, capture_output=True, text=True, check=False)


@case
def a_scoreboard_is_made(folder):
    """init, check and optimise for a list of kernels; what is done is not done again, what fails says why."""
    os.makedirs(os.path.join(folder, "checkouts/ops/src"))
    write(os.path.join(folder, "checkouts/ops/src/twice.cu"), PLAIN)
    os.makedirs(os.path.join(folder, "ours/ops-twice"))
    write(os.path.join(folder, "ours/ops-twice/task.yaml"), TASK)
    write(os.path.join(folder, "checkouts/ops/src/thrice.cu"), PLAIN.replace("twice", "thrice"))
    os.makedirs(os.path.join(folder, "ours/ops-thrice"))
    write(os.path.join(folder, "ours/ops-thrice/task.yaml"), "args:\n  - {name: gone, value: 1}\n")
    rows = [f"me/ops\tabc\tsrc/{name}.cu\t{name}\telementwise\town" for name in ("thrice", "twice", "none")]
    write(os.path.join(folder, "list.tsv"), "# a list\n" + "\n".join(rows) + "\n")
    command = ["run", "checkouts", "out", "--list", "list.tsv", "--astra", ASTRA, "--device", "sim", "--rounds", "1", "--tasks", "ours"]
    done = tool(folder, *command)
    expect("ops-twice" in done.stdout and "src/none.cu is not there" in done.stdout, done.stdout + done.stderr)
    expect("override  tasks/ops-thrice/task.yaml is out of date: it names arguments that init does not write: gone" in done.stdout, done.stdout)
    row = json.loads(read(os.path.join(folder, "out/ops-twice/row.json")))
    expect(row.get("stage") == "done" and row["said"] == "ranges" and row["basis"] == "modelled" and row["speedup"] >= 1 and row["candidates"] > 0, row)
    expect(tool(folder, *command).stdout == "", "a kernel that was done is done again")
    page = tool(folder, "run", "--page", "out", "--list", "list.tsv").stdout
    expect("3 kernels of 1 repositories" in page and page.index("`none`") < page.index("`twice`"), page)


DEFINITION = {
    "name": "scale_h512", "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 512}},
    "inputs": {"x": {"shape": ["rows", "width"], "dtype": "float32"}, "by": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["rows", "width"], "dtype": "float32"}}, "constraints": ["rows <= 4096"], "reference": "import torch"}

SCALE = """#include <cstdint>
__global__ void scale(const float *x, float by, float *y)
{
    y[blockIdx.x * 512 + threadIdx.x] = by * x[blockIdx.x * 512 + threadIdx.x];
}
extern "C" void scale_h512(const float *x, float by, float *y, int64_t rows, cudaStream_t stream)
{
    scale<<<rows, 512, 0, stream>>>(x, by, y);
}
"""


@case
def flashinfer_bench_has_tasks(folder):
    write(os.path.join(folder, "d.json"), json.dumps(DEFINITION))
    lines = [{"definition": "scale_h512", "workload": {"axes": {"rows": n}, "inputs": {"by": {"type": "scalar", "value": 0.5}}}} for n in range(1, 99)]
    write(os.path.join(folder, "w.jsonl"), "\n".join(map(json.dumps, lines)))
    write(os.path.join(folder, "k.cu"), SCALE)
    done = tool(folder, "flashinfer_bench", "d.json", "--workloads", "w.jsonl", "--kernel", "k.cu", "--out", "task")
    expect(done.returncode == 0 and "; 0 to be said" in done.stdout, done.stdout + done.stderr)
    said(astra(folder, "check", "task", "--mutants", "0"), 0)
    again = tool(folder, "flashinfer_bench", "d.json", "--out", "task")
    expect(again.returncode == 1 and "is there already" in again.stderr, again.stderr)
    for change, words in [({"axes": {"rows": {"type": "war"}}}, "type is const or var"), ({"name": "../x"}, "is no name")]:
        write(os.path.join(folder, "bad.json"), json.dumps({**DEFINITION, **change}))
        bad = tool(folder, "flashinfer_bench", "bad.json", "--out", "other")
        expect(bad.returncode == 1 and words in bad.stderr and not os.path.exists(os.path.join(folder, "other")), bad.stderr)


main()
