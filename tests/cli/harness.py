"""What the tests of the whole program share: a temporary folder a case, running astra, small tasks, counting.

A test file is run as `FILE.py ASTRA [CASE]...`. A case is a function with one argument, its folder; what it does
not expect it says through `expect`, and what this machine cannot do through `skip`.
"""

import atexit
import fcntl
import json
import os
import pty
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import traceback

ASTRA = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit("usage: FILE.py ASTRA [CASE]...")
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
VERBS = ["optimize", "check", "bench", "profile", "sanitize", "init", "runs", "show", "diff", "report", "export", "resume", "verify", "capture", "replace", "memory", "mcp", "skill", "doctor",
         "completion", "man"]

SANITIZED = b"__asan_init" in subprocess.run(["nm", ASTRA], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout

# What makes the material of cases whose subject is another: under a sanitizer the plain program, where there is one.
PLAIN = os.environ.get("PLAIN_ASTRA", ASTRA)
_making = False

# Of the cases: those of `make check` (drawn), of `make check-rest` (rest), or all.
PART = "all" if os.environ.get("EVERY_CASE") else os.environ.get("PART", "all")

_cases = []


class Unexpected(Exception):
    pass


class Skipped(Exception):
    pass


def _add(name, function, drawn=True):
    if PART == "all" or drawn == (PART == "drawn"):
        _cases.append((name, function))


def case(function):
    _add(function.__name__, function)
    return function


def rest(function):
    """A case that `make check` leaves to `make check-rest`: it is long, and another case of the file has its subject in short."""
    _add(function.__name__, function, False)
    return function


def cases(values, every=1, later=None):
    """One case for each value; the function gets it as its second argument. `make check` draws every n-th of them, from the first on (0: none),
    but none whose name begins with the word `later`, and leaves the others to `make check-rest`. Under a sanitizer, which looks at our
    code and takes eight times as long, every third of many are left."""

    def add(function):
        for at, value in enumerate(list(values)[:: 3 if SANITIZED and len(values) > 3 else 1]):
            name = value if isinstance(value, str) else value[0]
            _add(f"{function.__name__}[{name}]", lambda folder, v=value: function(folder, v), every > 0 and at % every == 0 and not (later and name.startswith(later)))
        return function

    return add


def expect(condition, message):
    if not condition:
        raise Unexpected(message)


def skip(reason):
    raise Skipped(reason)


def environment(**changes):
    """This process's environment without what would change astra's ways, a GPU among it; None removes a name."""
    kept_names = ("ASTRA_NVRTC", "ASTRA_NVCC", "ASTRA_CUDA_INCLUDE", "ASTRA_SANDBOX")
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASTRA_") or k in kept_names}
    env["CUDA_VISIBLE_DEVICES"] = ""
    env["ASTRA_MEMORY"] = ""  # no test reads or writes the user's
    for name, value in changes.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return env


def astra(folder, *args, env=None, timeout=3000 if SANITIZED else 300, program=None, **more):
    """Run astra to its end in a folder; gives status, out and err."""
    env = env or environment()
    if _making and "ASTRA_CUDA_DRIVER" not in env:  # the GPU of the tests is a library with a sanitizer in it
        program = program or PLAIN
        if PLAIN != ASTRA:
            env = {k: v for k, v in env.items() if k != "ASTRA_NVRTC"}  # as that library is
    program = program or ASTRA
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run([program, *map(str, args)], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          timeout=timeout, check=False, **more)
    done.args = ["astra", *map(str, args)]
    done.out = (done.stdout or b"").decode("utf-8", "replace")
    done.err = (done.stderr or b"").decode("utf-8", "replace")
    return done


def on_terminal(folder, columns, *args):
    """What astra says to a terminal of that width on stdout alone, with a newline at each line's end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
    told = []
    reader = threading.Thread(target=lambda: told.extend(iter(lambda: _read(master), b"")))
    reader.start()
    done = astra(folder, *args, stdout=slave)
    os.close(slave)
    reader.join()
    os.close(master)
    expect(done.returncode == 0, done.err)
    return b"".join(told).decode().replace("\r\n", "\n")


def _read(master):
    try:
        return os.read(master, 4096)
    except OSError:  # the other end is closed
        return b""


def start(folder, *args, **more):
    """Start astra in a folder, as the leader of a group of its own, its output in files there."""
    with open(os.path.join(folder, "stdout"), "wb") as out, open(os.path.join(folder, "stderr"), "wb") as err:
        return subprocess.Popen([ASTRA, *map(str, args)], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                                stdout=out, stderr=err, start_new_session=True, **more)


def said(done, status, *patterns):
    """It ended with this status, its stderr holds each pattern, and it complained exactly once."""
    whole = f"{' '.join(done.args)}\n  status {done.returncode}\n  stdout {done.out[:600]!r}\n  stderr {done.err[:1500]!r}"
    expect(done.returncode == status, f"status {status} expected: {whole}")
    for pattern in patterns:
        expect(re.search(pattern, done.err, re.S), f"no /{pattern}/ on stderr: {whole}")
    if status in (1, 2):
        complaints = re.findall(r"^astra: ", done.err, re.M)
        expect(len(complaints) == 1, f"one complaint expected: {whole}")
        for bad in ("Sanitizer", "BUG", "core dumped", "(null)", "Traceback"):
            expect(bad not in done.err, f"{bad} on stderr: {whole}")
    return done


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w" if isinstance(text, str) else "wb") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def load(path):
    return json.loads(read(path))


NVCC = os.environ.get("ASTRA_NVCC")  # of this machine; None: where it is found


def without_nvcc():
    """Runs of this file end without nvcc's look at the best, which takes a fifth of their time; runs.py has it."""
    os.environ["ASTRA_NVCC"] = "/bin/false"


# A task that is small enough to be judged in a moment and naive enough to be made faster.
KERNEL = """#include <cuda_fp16.h>

__global__ void scale_rows_kernel(const __half *in, __half *out, int rows, int d, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * d)
        out[i] = __float2half(__half2float(in[i]) * factor);
}

extern "C" void scale_rows(__half *out, const __half *in, int rows, int d, float factor, cudaStream_t stream)
{
    int n = rows * d;
    scale_rows_kernel<<<(n + 127) / 128, 128, 0, stream>>>(in, out, rows, d, factor);
}
"""

TASK = """name: scale_rows
source: kernel.cu
entry: scale_rows
args:
  - {name: out,    type: f16, shape: [rows, d], role: out}
  - {name: in,     type: f16, shape: [rows, d], role: in}
  - {name: rows,   type: i32, value: rows}
  - {name: d,      type: i32, value: d}
  - {name: factor, type: f32, value: 0.5}
dims: [rows, d]
domain: [rows >= 1, rows <= 4096, d >= 1, d <= 4096]
workloads:
  - [64, 512]
  - [256, 1024]
"""
# Large enough that two elements a thread are faster by any clock.
GAINS = TASK.replace("[64, 512]", "[1024, 1024]").replace("[256, 1024]", "[2048, 1024]")


def small_task(folder, task=TASK, kernel=KERNEL):
    path = os.path.join(folder, "task")
    write(os.path.join(path, "task.yaml"), task)
    write(os.path.join(path, "kernel.cu"), kernel)
    return path


GPU_TASK = (TASK.replace("[64, 512]", "[16, 256]").replace("  - [256, 1024]\n", "")
            .replace("rows <= 4096", "rows <= 32").replace("d <= 4096", "d <= 256"))


def small_gpu_task(folder):
    """Smaller yet: a GPU's part is played on the simulator (tests/fakecuda)."""
    return small_task(folder, GPU_TASK)


def gpu_environment(**more):
    """A GPU of this process's own, so that no other test has us wait for our turn."""
    fake = os.path.join(os.path.dirname(ASTRA), "tests", "fakecuda")
    names = {"ASTRA_CUDA_DRIVER": os.environ.get("FAKE_DRIVER", os.path.join(fake, "libfakecuda.so")),
             "ASTRA_NVML": os.environ.get("FAKE_NVML", os.path.join(fake, "libfakenvml.so")), "ASTRA_CUDA_PTX": "1",
             "ASTRA_CUBLAS": os.environ.get("FAKE_CUBLAS", os.path.join(fake, "libfakecublas.so")),
             "FAKECUDA_L2": "8192", "FAKECUDA_UUID": str(os.getpid() % 255 + 1)}
    return environment(**{**names, **more})


def without_times(result):
    """A result.json without what two equal runs may differ in."""
    result = {k: v for k, v in result.items() if k not in ("wall_s", "status")}
    result["provenance"] = {k: v for k, v in result["provenance"].items() if k != "digest"}  # it is of the times too
    return result


ROUNDS = ("--rounds", "3", "--tune-budget", "6", "--seed", "7", "--hidden-seed", "11")


def optimize(folder, out="run", *more):
    """A small task's run to its end."""
    return said(astra(folder, "optimize", "task", *ROUNDS, "--out", out, *more), 0)


_kept = {}


def kept(name, make, subject=False):
    """A folder that `make(folder)` fills once for all cases of a file, and what that gave. subject: to make it is what is tested."""
    global _making
    if name not in _kept:
        home = tempfile.mkdtemp(prefix="astra-kept-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        _making = not subject
        try:
            _kept[name] = home, make(home)
        finally:
            _making = False
    return _kept[name]


def finished(folder, out="run"):
    """The small task there, and beside it the run that `optimize` makes of it; the cases of a file share one."""

    def make(home):
        small_task(home)
        return optimize(home)

    home, done = kept("finished", make)
    small_task(folder)
    shutil.copytree(os.path.join(home, "run"), os.path.join(folder, out))
    return done


def same(folder, a, b):
    first, second = (without_times(load(os.path.join(folder, out, "result.json"))) for out in (a, b))
    expect(first == second, f"{a} and {b} differ:\n{json.dumps(first)}\n{json.dumps(second)}")
    for name in ("best.cu", "best.diff"):
        expect(read(os.path.join(folder, a, name)) == read(os.path.join(folder, b, name)), f"{name} differs")


def processor_seconds():
    """Of this process and of what it has started and seen end."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def main():
    only = sys.argv[2:]
    passed = failed = skipped = 0
    # Under a sanitizer every eighth, or what was asked for: most of the time is the simulator's, which has suites of its own.
    for name, function in _cases[:: 8 if SANITIZED and not only and not os.environ.get("EVERY_CASE") else 1]:
        if only and not any(word in name for word in only):
            continue
        folder = os.environ["CASE_FOLDER"] = tempfile.mkdtemp(prefix="astra-cli-")
        before = processor_seconds()
        try:
            function(folder)
            passed += 1
            print(f"ok - {name} ({processor_seconds() - before:.1f} s of a processor)", flush=True)
        except Skipped as reason:
            skipped += 1
            print(f"skipped - {name}: {reason}", flush=True)
        except Exception as reason:  # pylint: disable=broad-except
            failed += 1
            text = str(reason) if isinstance(reason, Unexpected) else traceback.format_exc()
            print(f"not ok - {name}\n    {text}".replace("\n", "\n    "), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} cases passed, {failed} failed")
    sys.exit(1 if failed else 0)
