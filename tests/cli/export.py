"""`astra export`: what each target makes, and the runs it refuses."""

import collections
import glob
import json
import os
import re
import shutil
import subprocess

from harness import KERNEL, ROOT, TASK, astra, case, cases, environment, expect, gpu_environment, kept, load, main, read, rest, said, skip, small_gpu_task, small_task, without_nvcc, write

without_nvcc()


def plain(folder, name="plain", **more):
    """A finished run in the case's folder."""

    def make(home):
        small_task(home, **more)
        said(astra(home, "optimize", "task", "--rounds", "1", "--seed", "7", "--quiet", "--out", "run"), 0)

    home, _ = kept(name, make)
    shutil.copytree(os.path.join(home, "run"), os.path.join(folder, "run"))
    return os.path.join(folder, "run")


def tool(*argv, cwd, **more):
    done = subprocess.run(argv, cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, check=False, **more)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def nvcc():
    found = shutil.which("nvcc") or (os.path.exists("/usr/local/cuda/bin/nvcc") and "/usr/local/cuda/bin/nvcc")
    return found or skip("no nvcc")


def tokens(text):
    return re.sub(r"\s+", "", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))


@case
def the_targets_are_listed(folder):
    done = said(astra(folder, "export", "--to", "list"), 0)
    expect([line.split()[0] for line in done.out.splitlines()] == ["cuda", "patch", "torch", "flashinfer-bench"], done.out)
    said(astra(folder, "export", "run", "--to", "list"), 0)


@case
def usage(folder):
    plain(folder)
    said(astra(folder, "export"), 2, "to what")
    said(astra(folder, "export", "--to", "cuda"), 2, "needs RUN")
    said(astra(folder, "export", "run"), 2, "--to")
    said(astra(folder, "export", "run", "--to", "pach"), 2, "did you mean patch", "cuda, patch, torch, flashinfer-bench")
    said(astra(folder, "export", "nothing", "--to", "cuda"), 2, "no run 'nothing'")


@case
def cuda_compiles_and_says_what_it_is(folder):
    run = plain(folder)
    done = said(astra(folder, "export", "run", "--to", "cuda", "--out", "out/scale.cu"), 0)
    expect(done.out == "out/scale.cu\n", done.out)
    text = read(os.path.join(folder, "out", "scale.cu"))
    result = load(os.path.join(run, "result.json"))
    head, body = text.split("*/\n", 1)
    for word in ("rows >= 1, rows <= 4096", "f16[rows, d]", "modelled for NVIDIA H200", "not measured on a GPU", "hidden ones", "faults",
                 "bit-identical", "not proved beyond it", "factor: f32 = 0.5", result["provenance"]["digest"], result["provenance"]["best"],
                 f"{result['speedup']['geomean']:.2f}x"):
        expect(word in head, f"{word!r} is not in {head}")
    expect("rows=64 d=512" in head and "rows=256 d=1024" in head, head)
    expect(tokens(body) == tokens(read(os.path.join(run, "best.cu"))), body)
    expect(said(astra(folder, "export", "run", "--to", "cuda"), 0).out == text, "stdout is another text")
    status, words = tool(nvcc(), "-c", "-Werror", "all-warnings", "-o", "scale.o", "out/scale.cu", cwd=folder)
    expect(status == 0, words)


@rest
def a_comment_ends_where_it_should(folder):
    """What a task's author may write must not end the comment early."""
    task = TASK.replace("name: scale_rows", 'name: "*/ #error */ \\\\"', 1)
    plain(folder, "named", task=task)
    text = said(astra(folder, "export", "run", "--to", "cuda"), 0).out
    expect("* / #error" in text.split("\n", 1)[0], text[:200])
    write(os.path.join(folder, "x.cu"), text)
    status, words = tool(nvcc(), "-c", "-o", "x.o", "x.cu", cwd=folder)
    expect(status == 0, words)


@case
def what_is_there_stays(folder):
    plain(folder)
    write(os.path.join(folder, "scale.cu"), "mine")
    said(astra(folder, "export", "run", "--to", "cuda", "--out", "scale.cu"), 2, "--force")
    expect(read(os.path.join(folder, "scale.cu")) == "mine", "it was overwritten")
    said(astra(folder, "export", "run", "--to", "cuda", "--out", "scale.cu", "--force"), 0)
    expect("__global__" in read(os.path.join(folder, "scale.cu")), "it was not replaced")
    for force in ([], ["--force"]):
        said(astra(folder, "export", "run", "--to", "cuda", "--out", "run", *force), 2, "is a folder")
        said(astra(folder, "export", "run", "--to", "torch", "--out", "scale.cu", *force), 2, "is a file")


@case
def without_clang_format_it_is_the_judged_text(folder):
    run = plain(folder)
    done = said(astra(folder, "export", "run", "--to", "cuda", env=environment(PATH=os.path.join(folder, "nothing"))), 0)
    head, body = done.out.split("*/\n", 1)
    expect("byte for byte" in head, head)
    expect(body == read(os.path.join(run, "best.cu")).split("*/\n", 1)[1], body)


# Where the original lies, and what its text is like: the patch must apply there and leave exactly best.cu.
PLACES = [
    ("plain", "task", {}),
    ("deep", "src/kernels/task", {}),
    ("blanks", "my kernels/the task", {}),
    ("signs", 'sch\u00f6n/a "task"', {}),
    ("crlf", "task", {"kernel": KERNEL.replace("\n", "\r\n")}),
    ("no end", "task", {"kernel": KERNEL.rstrip("\n")}),
]


@cases(PLACES, every=4)
def patch_applies(folder, place):
    name, where, more = place
    top = os.path.join(folder, "repository")
    os.makedirs(top)
    small_task(folder, **more)
    os.makedirs(os.path.dirname(os.path.join(top, where)), exist_ok=True)
    os.rename(os.path.join(folder, "task"), os.path.join(top, where))
    if name != "plain":
        tool("git", "init", "-q", ".", cwd=top)
    said(astra(folder, "optimize", os.path.join(top, where), "--rounds", "1", "--quiet", "--out", "run", "--min-mutation", "0"), 0)
    done = said(astra(folder, "export", "run", "--to", "patch", "--out", "best.patch"), 0, "apply FILE takes it in")
    cwd = os.path.join(top, where) if name == "plain" else top
    for check in (["--check"], []):
        status, words = tool("git", "apply", *check, os.path.join(folder, "best.patch"), cwd=cwd)
        expect(status == 0, f"{words}\n{read(os.path.join(folder, 'best.patch'))}\n{done.err}")
    with open(os.path.join(top, where, "kernel.cu"), "rb") as ours, open(os.path.join(folder, "run", "best.cu"), "rb") as best:
        expect(ours.read() == best.read(), "the patched file is not best.cu")


@case
def patch_of_a_folder_that_came_alone(folder):
    run = plain(folder)
    os.remove(os.path.join(run, "run.db"))
    done = said(astra(folder, "export", "run", "--to", "patch"), 0, "seen from the task's folder")
    expect("\n--- a/kernel.cu\n+++ b/kernel.cu\n" in done.out, done.out)


@case
def patch_of_a_file_that_changed(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--quiet", "--out", "run", "--min-mutation", "0"), 0)
    write(os.path.join(folder, "task", "kernel.cu"), "// mine\n" + KERNEL)
    said(astra(folder, "export", "run", "--to", "patch"), 0, "changed since the run began")


def framework(folder):
    """A task that init made of a tree, and a run of it."""

    def make(home):
        shutil.copytree(os.path.join(ROOT, "tests", "init", "torch"), os.path.join(home, "tree"))
        tool("git", "init", "-q", ".", cwd=os.path.join(home, "tree"))
        said(astra(home, "init", "tree/csrc/norm.cu:rms_norm_kernel", "--out", "task"), 0)
        task = os.path.join(home, "task", "task.yaml")
        write(task, re.sub(r"(?s)workloads:.*", "workloads:\n  - [512, 1024]\n", read(task)))
        said(astra(home, "optimize", "task", "--rounds", "1", "--candidates", "5", "--tune-budget", "0", "--seed", "7", "--quiet", "--out", "run", "--min-mutation", "0"), 0)

    home, _ = kept("framework", make)
    for name in ("tree", "run"):
        shutil.copytree(os.path.join(home, name), os.path.join(folder, name))


@case
def patch_of_a_framework_applies_to_its_tree(folder):
    """And init makes of the patched tree the device code that was judged."""
    framework(folder)
    done = said(astra(folder, "export", "run", "--to", "patch", "--tree", "tree", "--out", "best.patch"), 0, "apply FILE takes it in")
    shutil.copytree(os.path.join(folder, "tree"), os.path.join(folder, "copy"))
    for where, command in (("tree", ["git", "apply"]), ("copy", ["patch", "-p1", "-i"])):
        status, words = tool(*command, os.path.join(folder, "best.patch"), cwd=os.path.join(folder, where))
        expect(status == 0, words)
    patched = read(os.path.join(folder, "tree", "csrc", "norm.cu"))
    expect(patched == read(os.path.join(folder, "copy", "csrc", "norm.cu")), "git and patch differ")
    expect('TORCH_CHECK(hidden_size <= ' in patched, f"{patched}\n{done.err}")
    said(astra(folder, "init", "tree/csrc/norm.cu:rms_norm_kernel", "--out", "again"), 0)
    device = [re.split(r'#line \d+ "kernel.cu"', read(path))[0] for path in (os.path.join(folder, "again", "kernel.cu"), os.path.join(folder, "run", "best.cu"))]
    plain_lines = [re.sub(r"#line .*", "", text) for text in device]
    again, judged = (collections.Counter(re.findall(r"\w+|[^\w\s]", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S))) for text in plain_lines)
    # what is new and of no namespace stands above the kernel's file, and so between two parts of the namespace
    expect(not judged - again and set(again - judged) <= {"namespace", "tiny", "{", "}"}, device)
    expect("By hand" not in done.err and "(uintptr_t)(input.data_ptr<scalar_t>()) % 16 == 0" in patched, f"{patched}\n{done.err}")
    text = read(os.path.join(folder, "best.md"))
    for word in ("Before and after", "modelled for NVIDIA H200", "hidden\\_size", "bit-identical", "simulator", "astra verify run", "no language model"):
        expect(word in text, f"{word} is not in {text}")


@case
def patch_of_a_framework_that_changed(folder):
    framework(folder)
    said(astra(folder, "export", "run", "--to", "cuda", "--tree", "tree"), 2, "--tree")
    write(os.path.join(folder, "tree", "csrc", "reduce.cuh"), "// mine\n" + read(os.path.join(folder, "tree", "csrc", "reduce.cuh")))
    said(astra(folder, "export", "run", "--to", "patch", "--tree", "tree", "--out", "best.patch"), 2, "csrc/reduce.cuh is not what `astra init` read")
    expect(not os.path.exists(os.path.join(folder, "best.patch")), "it was written")


@case
def unchanged(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--budget-time", "0.001s", "--quiet", "--out", "run",
               "--min-mutation", "0"), 3)
    expect(load(os.path.join(folder, "run", "result.json"))["outcome"] == "unchanged", "it found something")
    done = said(astra(folder, "export", "run", "--to", "cuda", "--out", "x.cu"), 0, "nothing was provably faster")
    expect(not done.out and not os.path.exists(os.path.join(folder, "x.cu")), done.out)


def change(name, old, new):
    def do(run):
        path = os.path.join(run, name)
        expect(old in read(path), f"{old!r} is not in {path}")
        write(path, read(path).replace(old, new, 1))

    return do


REFUSED = [
    ("best", change("best.cu", "__global__", "/* mine */ __global__"), 1, "not the text that was judged"),
    ("result", change("result.json", '"rounds": ', '"rounds": 1'), 1, "result.json was changed"),
    ("task", change("task/task.yaml", "name:", "# other\nname:"), 1, "task.yaml is not the file"),
    ("lost", lambda run: os.remove(os.path.join(run, "best.cu")), 1, "best.cu"),
    ("unfinished", lambda run: os.remove(os.path.join(run, "result.json")), 2, "no result yet.*astra resume"),
    ("no run", lambda run: [os.remove(path) for path in glob.glob(os.path.join(run, "*.*"))], 2, "result.json"),
]


@cases(REFUSED)
def refused(folder, what):
    run = plain(folder)
    what[1](run)
    done = said(astra(folder, "export", "run", "--to", "cuda"), what[2], what[3])
    expect(not done.out, done.out)


def mixed(folder):
    """A run of a task with every role and most types."""
    here = os.path.join(ROOT, "tests", "export")
    plain(folder, "mixed", task=read(os.path.join(here, "mix.yaml")), kernel=read(os.path.join(here, "mix.cu")))


@case
def torch_files(folder):
    mixed(folder)
    done = said(astra(folder, "export", "run", "--to", "torch"), 0)
    expect(done.out == "run/export/torch\n", done.out)
    top = os.path.join(folder, "run", "export", "torch")
    binding = read(os.path.join(top, "csrc", "binding.cpp"))
    for text in ("mix_into(Tensor(a0!) out, Tensor(a1!) sum, Tensor in_, Tensor flags, Tensor steps, float factor=0.3, float bias=0.25) -> ()",
                 "mix(Tensor sum, Tensor in_, Tensor flags, Tensor steps, float factor=0.3, float bias=0.25) -> (Tensor, Tensor)",
                 '{shape.rows, 2 * shape.d}, "[rows, 2 * d]")',
                 '{{"out", out, 64}, {"sum", sum, 64}, {"in_", in_, 64},', "placed[2].read<__nv_bfloat16>()", "placed[1].write_back();", "check_holds(shape.d % 2 == 0 || shape.d < 1000",
                 'fit<bool>(shape.d > 64, "wide")', "check_number(factor, {0.3", "__float2half(static_cast<float>(bias))",
                 "room({Int(shape.rows * shape.d).value}", "check_apart(", "TORCH_CHECK(status == 0"):
        expect(re.sub(r"\s+", "", text) in re.sub(r"\s+", "", binding), f"{text} is not in {binding}")
    for path in glob.glob(os.path.join(top, "**", "*.py"), recursive=True):
        compile(read(path), path, "exec")
    expect(read(os.path.join(top, "test", "original.cu")) == read(os.path.join(folder, "run", "task", "kernel.cu")), "not the original")
    status, words = tool(nvcc(), "-c", "-o", "kernel.o", os.path.join(top, "csrc", "kernel.cu"), cwd=folder)
    expect(status == 0, words)
    said(astra(folder, "export", "run", "--to", "torch"), 2, "--force")
    said(astra(folder, "export", "run", "--to", "torch", "--force"), 0)
    said(astra(folder, "export", "run", "--to", "cuda", "--name", "mine"), 2, "cuda makes none")


@case
def torch_names_are_its_own(folder):
    """Two exports of one launcher in one process: package, extension and namespace follow the task, or --name."""
    mixed(folder)
    for option, package in (([], "astra_mix_of_types"), (["--name", "3-d mix"], "astra__3_d_mix")):
        said(astra(folder, "export", "run", "--to", "torch", "--out", package, *option), 0)
        top = os.path.join(folder, package)
        for name, text in (("setup.py", f'name="{package}"'), ("csrc/binding.cpp", f"#define OP_NAMESPACE {package}\n"),
                           ("test/original_binding.cpp", f"#define OP_NAMESPACE {package}_original\n"),
                           ("test/test_op.py", f"torch.ops.{package}.mix_into"), (f"{package}/__init__.py", f'fake("{package}::mix")')):
            expect(text in read(os.path.join(top, name)), f"{text} is not in {name}")


@case
def torch_dims_from_odd_shapes(folder):
    """A dim from a sum, one that no extent of an input tells, and names that are words of Python."""
    task = TASK.replace("shape: [rows, d], role: out}", "shape: [rows, d], role: out}", 1).replace(
        "{name: in,     type: f16, shape: [rows, d], role: in}", "{name: in,     type: f16, shape: [rows * d], role: in}")
    plain(folder, "odd", task=task)
    said(astra(folder, "export", "run", "--to", "torch", "--out", "t"), 0)
    binding = read(os.path.join(folder, "t", "csrc", "binding.cpp"))
    expect("scale_rows(Tensor in_, SymInt rows, float factor=0.5) -> Tensor" in binding, binding)
    expect("shape.d = Int(in_.size(0)) / shape.rows;" in binding, binding)
    expect("scale_rows_into(Tensor(a0!) out, Tensor in_, float factor=0.5) -> ()" in binding, binding)


@case
def torch_runs_on_a_cpu(folder):
    """The operators under a real PyTorch, on stand-ins for what needs a GPU: tests/export/README.md."""
    python = os.environ.get("ASTRA_TEST_PYTHON", "python3")
    if tool(python, "-c", "import torch", cwd=folder)[0] != 0 or not os.path.exists("/usr/local/cuda/include/cuda_fp16.h"):
        skip("no PyTorch, or no headers of CUDA")
    mixed(folder)
    here = os.path.join(ROOT, "tests", "export")
    for out, name, command in (("other", ["--name", "other"], ["setup.py", here, "build_ext", "--inplace"]),
                               ("t", [], ["setup.py", here, "build_ext", "--inplace"]), ("t", [], ["run.py", "../other"])):
        said(astra(folder, "export", "run", "--to", "torch", "--force", "--out", out, *name), 0)
        status, words = tool(python, os.path.join(here, command[0]), *command[1:], cwd=os.path.join(folder, out))
        expect(status == 0, words[-3000:])


# What flashinfer-bench 0.1 asks of its files, as far as this project writes them; its own models said the same of them.
TYPES = {"float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1", "int64", "int32", "int16", "int8", "bool"}


def data_set(folder):
    top = os.path.join(folder, "data")
    out = {}
    for path in glob.glob(os.path.join(top, "definitions", "*", "*.json")):
        d = load(path)
        for name, spec in {**d["inputs"], **d["outputs"]}.items():
            expect(spec["dtype"] in TYPES and set(spec["shape"] or []) <= set(d["axes"]), f"{name}: {spec}")
        expect(not set(d["inputs"]) & set(d["outputs"]) and d["op_type"], d)
        for text in d["constraints"]:
            compile(text, "constraint", "eval")
        bound = {axis for spec in d["inputs"].values() for axis in spec["shape"] or []}
        for name, axis in d["axes"].items():
            expect(axis["type"] == "const" and axis["value"] > 0 or axis["type"] == "var" and name in bound, f"{name}: {axis}")
        expect("def run(" in d["reference"], d["reference"])
        compile(d["reference"], "reference", "exec")
        s = load(os.path.join(top, "solutions", "astra", d["op_type"], d["name"], f"astra_{d['name']}.json"))
        files = {file["path"]: file["content"] for file in s["sources"]}
        expect(s["definition"] == d["name"] and s["spec"]["entry_point"] == "main.py::run" and s["spec"]["target_hardware"], s["spec"])
        expect({"main.py", "kernel.cu", "binding.cpp", "check.h"} <= set(files), list(files))
        compile(files["main.py"], "main.py", "exec")
        lines = read(os.path.join(top, "workloads", d["op_type"], f"{d['name']}.jsonl")).splitlines()
        for line in lines:
            w = json.loads(line)
            variable = {name for name, axis in d["axes"].items() if axis["type"] == "var"}
            expect(set(w["workload"]["axes"]) == variable and set(w["workload"]["inputs"]) == set(d["inputs"]), w)
            expect(w["solution"] is None and w["evaluation"] is None and w["workload"]["uuid"], w)
        traces = os.path.join(top, "traces", "astra", d["op_type"], f"{d['name']}.jsonl")
        out[d["name"]] = (d, [json.loads(x) for x in lines], [json.loads(x) for x in read(traces).splitlines()] if os.path.exists(traces) else None)
    return out


@case
def flashinfer_of_modelled_times(folder):
    plain(folder)
    said(astra(folder, "export", "run", "--to", "flashinfer-bench", "--out", "data"), 0, "no traces.*modelled")
    (d, workloads, traces), = data_set(folder).values()
    expect(d["axes"]["rows"]["type"] == d["axes"]["d"]["type"] == "var" and len(workloads) == 2 and traces is None, d["axes"])
    expect(d["inputs"]["factor"] == {"shape": None, "dtype": "float32"}, d["inputs"])
    expect(workloads[0]["workload"]["inputs"]["factor"] == {"type": "scalar", "value": 0.5}, workloads[0])


@rest
def flashinfer_of_measured_times(folder):
    small_gpu_task(folder)
    said(astra(folder, "optimize", "task", "--out", "run", "--rounds", "1", "--candidates", "1", "--jobs", "1", "--quiet",
               env=gpu_environment()), 0)
    said(astra(folder, "export", "run", "--to", "flashinfer-bench", "--out", "data"), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    times = {}
    for d, workloads, traces in data_set(folder).values():
        expect([t["workload"] for t in traces] == [w["workload"] for w in workloads], traces)
        for t in traces:
            e = t["evaluation"]
            expect(e["status"] == "PASSED" and e["environment"]["hardware"] == "NVIDIA_H200" and e["timestamp"].startswith("20"), e)
            expect(e["correctness"]["max_relative_error"] == "NaN" and e["correctness"]["extra"]["hidden_cases"] > 0, e)
            times[e["performance"]["latency_ms"]] = e["performance"]
    for row in result["workloads"]:
        p = times[row["best_us"] / 1000]
        expect(abs(p["reference_latency_ms"] - row["baseline_us"] / 1000) < 1e-9 and p["speedup_factor"] == row["speedup"], p)


@case
def flashinfer_has_no_word_for_it(folder):
    mixed(folder)
    said(astra(folder, "export", "run", "--to", "flashinfer-bench", "--out", "data"), 2, "sum is of type f64")
    expect(not os.path.exists(os.path.join(folder, "data")), "something was written")


main()
