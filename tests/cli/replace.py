"""Programs with a kernel replaced, over the driver of tests/fakecuda: tests/capture/program.c's add_three by the result of
a run that had a slow add_three of the same signature as its original."""

import json
import os
import random
import re
import shutil

from harness import ASTRA, astra, case, environment, expect, kept, main, read, said, write

BUILT = os.path.join(os.path.dirname(ASTRA), "tests")
DRIVER = os.environ.get("FAKE_DRIVER", os.path.join(BUILT, "fakecuda", "libfakecuda.so"))
PROGRAM = os.path.join(BUILT, "captured_finds")

SLOW = """extern "C" __global__ void add_three(unsigned *p, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int k = 0; k < 3; k++) {
        p[i] = p[i] + 1;
        __threadfence();
    }
}

extern "C" void add(unsigned *p, int n, cudaStream_t stream)
{
    add_three<<<(n + 63) / 64, 64, 0, stream>>>(p, (unsigned)n);
}
"""
FAST = """__global__ void faster(unsigned *p, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 3;
}

extern "C" void add(unsigned *p, int n, cudaStream_t stream)
{
    faster<<<(n + 127) / 128, 128, 0, stream>>>(p, (unsigned)n);
}
"""
TASK = """name: add
source: kernel.cu
entry: add
args:
  - {name: p, type: u32, shape: [n], role: inout}
  - {name: n, type: i32, value: n}
dims: [n]
domain: [n >= 1, n <= 1000000]
workloads: [[4096], [100000]]
"""


def env(**more):
    return environment(FAKE_DRIVER=DRIVER, ASTRA_CAPTURE_CUPTI="/nowhere", **more)


def made(folder):
    """A result, and captures of the program, once for all cases."""

    def make(home):
        task = os.path.join(home, "add")
        os.mkdir(task)
        write(os.path.join(task, "kernel.cu"), SLOW)
        write(os.path.join(task, "task.yaml"), TASK)
        write(os.path.join(home, "fast.cu"), FAST)
        said(astra(home, "optimize", "add", "--device", "sim", "--out", "run", "--also", "fast.cu", "--rounds", "1", "--candidates", "2",
                   "--min-mutation", "0", "--tune-budget", "0", "--quiet"), 0)
        said(astra(home, "capture", "--out", "seen", "--keep", "add_three", "--", PROGRAM, "asked", "plain", env=env()), 0)

    home, _ = kept("made", make)
    for name in ("add", "run", "seen"):
        shutil.copytree(os.path.join(home, name), os.path.join(folder, name))


def replace(folder, what, *options, way="asked", **more):
    return astra(folder, "replace", "run", "--capture", "seen", *options, "--", PROGRAM, way, what, env=env(**more))


def alone(folder, what, way="asked"):
    return astra(folder, way, what, program=PROGRAM, env=env()).out


@case
def the_kernel_is_replaced(folder):
    made(folder)
    for way in ("opened", "asked"):
        done = said(replace(folder, "plain", way=way), 0, "astra replace: process [0-9]+: launches of add_three are replaced",
                    " 50 launches: replaced\n")
        expect(done.out == alone(folder, "plain", way), (done.out, alone(folder, "plain", way)))


@case
def two_kernels_are_replaced(folder):
    """Each by its own result; two results for one kernel are refused."""
    made(folder)
    task = os.path.join(folder, "mul")
    slow = SLOW.replace('extern "C" __global__ void add_three(unsigned *p', "template <typename T> __global__ void times(T *p").replace(
        "add_three<<<", "times<int><<<").replace("p[i] + 1", "p[i] * (k ? 1 : 3)").replace("add(unsigned *p", "mul(int *p")
    fast = FAST.replace("+= 3", "*= 3").replace("unsigned *p", "int *p").replace("void add", "void mul")
    write(os.path.join(task, "kernel.cu"), slow)
    write(os.path.join(task, "task.yaml"), TASK.replace("add", "mul").replace("u32", "i32"))
    write(os.path.join(folder, "mul.cu"), fast)
    said(astra(folder, "optimize", "mul", "--device", "sim", "--out", "run2", "--also", "mul.cu", "--rounds", "1", "--candidates", "2",
               "--min-mutation", "0", "--tune-budget", "0", "--quiet"), 0)
    said(astra(folder, "capture", "--out", "both", "--keep", "add_three,times", "--", PROGRAM, "asked", "plain", env=env()), 0)
    both = ("replace", "run", "run2", "--capture", "both")
    done = said(astra(folder, *both, "--", PROGRAM, "asked", "plain", env=env()), 0, "launches of add_three are replaced",
                "launches of _Z5timesIiEvPT_j are replaced", "add:\n +50 launches: replaced\nmul:\n +1 launches: replaced\n")
    expect(done.out == alone(folder, "plain"), done.out)
    report = json.loads(said(astra(folder, *both, "--pairs", "1", "--json", "--", PROGRAM, "asked", "plain", env=env()), 0).out)
    expect([k["launches"]["replaced"] for k in report["kernels"]] == [50, 1] and report["launches"]["replaced"] == 51, report)
    said(astra(folder, "replace", "run", "run", "--capture", "both", "--", PROGRAM, "asked", "plain", env=env()), 2, "are both for add_three")


@case
def what_was_not_captured_takes_the_original(folder):
    """Another grid, another value, an address that is less aligned."""
    made(folder)
    done = said(replace(folder, "shapes"), 0, "1 launches: replaced\n", r"2 launches: the original \(a grid or block",
                r"1 launches: the original \(values of parameters", r"1 launches: the original \(buffers that are less aligned")
    expect(done.out == alone(folder, "shapes"), done.out)


@case
def graphs_threads_forks_crashes(folder):
    made(folder)
    done = said(replace(folder, "graph"), 0, " 1 launches: replaced\n", " 1 launches: replaced, as nodes of graphs\n")
    expect(done.out == alone(folder, "graph"), done.out)
    done = said(replace(folder, "recorded"), 0, r" 1 launches: the original \(recorded into a graph before the new code was loaded\)")
    expect(done.out == alone(folder, "recorded"), done.out)
    done = said(replace(folder, "threads"), 0, " 100 launches: replaced\n")
    expect(done.out == alone(folder, "threads"), done.out)
    done = said(replace(folder, "fork"), 0, " 100 launches: replaced\n")
    said(replace(folder, "crash"), 1, " 50 launches: replaced\n", "ended with signal 6")
    said(replace(folder, "fails"), 1, " 50 launches: replaced\n", "ended with status 3")


@case
def a_driver_that_refuses_the_code(folder):
    made(folder)
    done = said(replace(folder, "plain", FAKECUDA_FAIL="cuModuleLoadDataEx=218@2,cuModuleLoadDataEx=218@3"), 0,
                r" 50 launches: the original \(the driver did not load the new code\)")
    expect(done.out == alone(folder, "plain"), done.err)


@case
def pairs(folder):
    made(folder)
    done = said(replace(folder, "plain", "--pairs", "2", "--compare"), 0, "pair 2 of 2", " 100 launches: replaced\n")
    expect("both print the same" in done.out and "seconds: " in done.out and "fewer than 6 pairs" in done.out, done.out)
    done = said(replace(folder, "plain", "--pairs", "6", "--metric", "computed ([0-9]+)", "--json"), 0)
    report = json.loads(done.out)
    expect(report["ratio"] == report["low"] == report["high"] == 1 and report["pairs"] == 6, report)
    expect(report["launches"]["replaced"] == 300 and report["launches_prepared"] == 1, report)
    noisy = write(os.path.join(folder, "noisy"), f'#!/bin/sh\necho ${{ASTRA_REPLACE:+not }}the same\nexec {PROGRAM} asked plain\n')
    os.chmod(noisy, 0o755)
    done = said(astra(folder, "replace", "run", "--capture", "seen", "--pairs", "1", "--compare", "--", "./noisy", env=env()), 4)
    expect("they print differently: line 1: 'the same' as it is, 'not the same' replaced" in done.out, done.out)


@case
def the_last_gate(folder):
    """A result that is put into its program: what that did stands first in the summary, in result.json and in the reports."""
    made(folder)
    quick = ("--device", "sim", "--also", "fast.cu", "--rounds", "1", "--candidates", "2", "--min-mutation", "0", "--tune-budget", "0", "--quiet")
    write(os.path.join(folder, "fast.cu"), FAST)
    wins = f'{PROGRAM} asked plain; if [ -n "$ASTRA_REPLACE" ]; then echo rate: 20.$$; else echo rate: 10.$$; fi'
    gate = ("--capture", "seen", "--pairs", "6", "--metric", "rate: ([0-9.]+)")
    done = said(astra(folder, "optimize", "add", *quick, "--out", "gated", "--e2e-cmd", wins, *gate, env=env()), 0)
    expect(done.out.startswith("In the program it is faster, too ("), done.out[:300])
    with open(os.path.join(folder, "gated", "result.json"), encoding="utf-8") as file:
        result = json.load(file)
    end = result["end_to_end"]
    expect(end["verdict"] == "faster" and end["pairs"] == 6 and 1.7 < end["low"] <= end["ratio"] <= end["high"] < 2.2, end)
    expect(end["launches"]["replaced"] == 6 * 50 and end["command"] == wins and result["outcome"] == "improved", end)
    same = f"{PROGRAM} asked plain; echo rate: 10"
    done = said(astra(folder, "resume", "gated", "--e2e-cmd", same, *gate, env=env()), 0)
    expect(done.out.startswith("Faster alone, not in the program: no difference can be told there ("), done.out[:300])
    page = said(astra(folder, "report", "gated", "--markdown"), 0).out
    expect("Faster alone (" in page.splitlines()[0] and "not in the program" in page.splitlines()[0], page[:300])
    done = said(astra(folder, "resume", "gated", "--e2e-cmd", "echo rate: 1; exit 3", *gate, env=env()), 0)
    expect(re.match(r"In the program \(echo rate: 1; exit 3\) it was not measured: sh as it is ended with status 3", done.out), done.out[:300])
    for words, complaint in ((("--e2e-cmd", "true"), "--e2e-cmd needs --capture"), (("--capture", "seen"), "go with --e2e-cmd"),
                             (("--e2e-cmd", "true", "--capture", "seen", "--pairs", "3"), "fewer than 6"),
                             (("--e2e-cmd", "true", "--capture", "seen", "--metric", "x"), "must have one group"),
                             (("--e2e-cmd", "true", "--capture", "nowhere"), "nowhere")):
        said(astra(folder, "optimize", "add", *words), 2, complaint)
    said(astra(folder, "optimize", "add", "add", "--e2e-cmd", "true", "--capture", "seen"), 2, "goes with one task")


@case
def what_cannot_be_replaced(folder):
    made(folder)
    said(astra(folder, "replace", "run", "--capture", "seen"), 2, "takes a result, --, and a program")
    said(astra(folder, "replace", "run", "--", "true"), 2, "--capture names the capture")
    said(astra(folder, "replace", "nowhere", "--capture", "seen", "--", "true"), 2, "nowhere")
    said(replace(folder, "plain", "--compare"), 2, "go with --pairs N")
    said(replace(folder, "plain", "--pairs", "1", "--metric", "("), 2, "--metric '\\('")
    said(replace(folder, "plain", "--pairs", "1", "--metric", "x"), 2, "must have one group")
    said(replace(folder, "plain", "--pairs", "1", "--metric", "(absent)"), 2, "finds nothing")
    said(astra(folder, "capture", "--out", "bare", "--", PROGRAM, "asked", "plain", env=env()), 0)
    said(astra(folder, "replace", "run", "--capture", "bare", "--", PROGRAM, "asked", "plain", env=env()), 2, "none was kept")
    said(astra(folder, "capture", "--out", "other", "--keep", "times", "--", PROGRAM, "asked", "plain", env=env()), 0)
    said(astra(folder, "replace", "run", "--capture", "other", "--", PROGRAM, "asked", "plain", env=env()), 2,
         "the kernel of the task is add_three, the program's _Z5timesIiEvPT_j")
    setuid = shutil.copy("/bin/true", os.path.join(folder, "setuid"))
    os.chmod(setuid, 0o4755)
    if os.geteuid():
        said(astra(folder, "replace", "run", "--capture", "seen", "--", "./setuid"), 2, "is setuid")
    with open(os.path.join(folder, "run", "best.cu"), "a", encoding="utf-8") as file:
        file.write("// more\n")
    said(replace(folder, "plain"), 2, "not those that were judged")


@case
def plans_that_are_damaged(folder):
    """Cut short, or with bytes changed: the program never crashes, and computes what it always does where nothing is replaced."""
    made(folder)
    taken = write(os.path.join(folder, "taken"), f'#!/bin/sh\ncp -r "$ASTRA_REPLACE" {folder}/plans\n')
    os.chmod(taken, 0o755)
    said(astra(folder, "replace", "run", "--capture", "seen", "--", "./taken"), 0, "did not launch the kernel")
    path = os.path.join(folder, "plans", "plans")
    with open(path, "rb") as file:
        whole = file.read()
    usual = alone(folder, "plain")
    library = os.path.join(os.path.dirname(ASTRA), "libastra_capture.so")
    draw = random.Random(1)
    head = whole.index(b"add_three") + 64
    for i in range(60):
        broken = bytearray(whole)
        if i % 3 == 0:
            broken = broken[:draw.randrange(len(broken))]
        for _ in range(0 if i % 3 == 0 else draw.randrange(1, 5)):
            broken[draw.randrange(8, head)] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        write(path, bytes(broken))
        done = astra(folder, "asked", "plain", program=PROGRAM, env=env(LD_PRELOAD=library, ASTRA_REPLACE=os.path.join(folder, "plans")))
        expect(done.returncode in (0, 9), f"{i}: status {done.returncode}: {done.err}")
        if "nothing is replaced" in done.err:
            expect(done.out == usual and len(re.findall("nothing is replaced", done.err)) == 1, done.err)
        elif i % 3 == 0:
            expect(len(broken) == 0, f"{i}: a file cut short was taken: {done.err}")


main()
