"""`astra export`: what each target makes, and the runs it refuses."""

import glob
import os
import re
import shutil
import subprocess

from harness import KERNEL, TASK, astra, case, cases, environment, expect, load, main, optimize, read, said, skip, small_task, write

_kept = {}


def kept(name, make):
    """A folder that is made once for all cases."""
    if name not in _kept:
        home = os.path.join(_kept.setdefault("", make_home()), name)
        os.makedirs(home)
        make(home)
        _kept[name] = home
    return _kept[name]


def make_home():
    import tempfile

    return tempfile.mkdtemp(prefix="astra-export-")


def finished(folder, name="plain", **more):
    """A finished run in the case's folder."""

    def make(home):
        small_task(home, **more)
        optimize(home, "run", "--quiet")

    shutil.copytree(os.path.join(kept(name, make), "run"), os.path.join(folder, "run"))
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
    expect([line.split()[0] for line in done.out.splitlines()] == ["cuda", "patch"], done.out)
    said(astra(folder, "export", "run", "--to", "list"), 0)


@case
def usage(folder):
    finished(folder)
    said(astra(folder, "export"), 2, "needs RUN")
    said(astra(folder, "export", "run"), 2, "--to")
    said(astra(folder, "export", "run", "--to", "pach"), 2, "did you mean patch", "cuda, patch")
    said(astra(folder, "export", "nothing", "--to", "cuda"), 2, "no run 'nothing'")


@case
def cuda_compiles_and_says_what_it_is(folder):
    run = finished(folder)
    done = said(astra(folder, "export", "run", "--to", "cuda", "--out", "out/scale.cu"), 0)
    expect(done.out == "out/scale.cu\n", done.out)
    text = read(os.path.join(folder, "out", "scale.cu"))
    result = load(os.path.join(run, "result.json"))
    head, body = text.split("*/\n", 1)
    for word in ("rows >= 1, rows <= 4096", "f16[rows, d]", "modelled for NVIDIA H200", "not measured on a GPU", "hidden ones", "faults",
                 "ulp", "not proved beyond it", "factor: f32 = 0.5", result["provenance"]["digest"], result["provenance"]["best"],
                 f"{result['speedup']['geomean']:.2f}x"):
        expect(word in head, f"{word!r} is not in {head}")
    expect("rows=64 d=512" in head and "rows=256 d=1024" in head, head)
    expect(tokens(body) == tokens(read(os.path.join(run, "best.cu"))), body)
    expect(said(astra(folder, "export", "run", "--to", "cuda"), 0).out == text, "stdout is another text")
    status, words = tool(nvcc(), "-c", "-Werror", "all-warnings", "-o", "scale.o", "out/scale.cu", cwd=folder)
    expect(status == 0, words)


@case
def a_comment_ends_where_it_should(folder):
    """What a task's author may write must not end the comment early."""
    task = TASK.replace("name: scale_rows", 'name: "*/ #error */ \\\\"', 1)
    finished(folder, "named", task=task)
    text = said(astra(folder, "export", "run", "--to", "cuda"), 0).out
    expect("* / #error" in text.split("\n", 1)[0], text[:200])
    write(os.path.join(folder, "x.cu"), text)
    status, words = tool(nvcc(), "-c", "-o", "x.o", "x.cu", cwd=folder)
    expect(status == 0, words)


@case
def what_is_there_stays(folder):
    finished(folder)
    write(os.path.join(folder, "scale.cu"), "mine")
    said(astra(folder, "export", "run", "--to", "cuda", "--out", "scale.cu"), 2, "--force")
    expect(read(os.path.join(folder, "scale.cu")) == "mine", "it was overwritten")
    said(astra(folder, "export", "run", "--to", "cuda", "--out", "scale.cu", "--force"), 0)
    expect("__global__" in read(os.path.join(folder, "scale.cu")), "it was not replaced")
    said(astra(folder, "export", "run", "--to", "cuda", "--out", "run", "--force"), 2, "is a folder")


# Where the original lies, and what its text is like: the patch must apply there and leave exactly best.cu.
PLACES = [
    ("plain", "task", {}),
    ("deep", "src/kernels/task", {}),
    ("blanks", "my kernels/the task", {}),
    ("signs", 'sch\u00f6n/a "task"', {}),
    ("crlf", "task", {"kernel": KERNEL.replace("\n", "\r\n")}),
    ("no end", "task", {"kernel": KERNEL.rstrip("\n")}),
]


@cases(PLACES)
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
    run = finished(folder)
    os.remove(os.path.join(run, "run.db"))
    done = said(astra(folder, "export", "run", "--to", "patch"), 0, "seen from the task's folder")
    expect("\n--- a/kernel.cu\n+++ b/kernel.cu\n" in done.out, done.out)


@case
def patch_of_a_file_that_changed(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", "--rounds", "1", "--quiet", "--out", "run", "--min-mutation", "0"), 0)
    write(os.path.join(folder, "task", "kernel.cu"), "// mine\n" + KERNEL)
    said(astra(folder, "export", "run", "--to", "patch"), 0, "changed since the run began")


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
    run = finished(folder)
    what[1](run)
    done = said(astra(folder, "export", "run", "--to", "cuda"), what[2], what[3])
    expect(not done.out, done.out)


try:
    main()
finally:
    if "" in _kept:
        shutil.rmtree(_kept[""], ignore_errors=True)
