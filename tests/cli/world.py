"""What the world does to it: outputs that cannot be written, a missing compiler, locked stores."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

from harness import ASTRA, KERNEL, astra, case, cases, environment, expect, load, main, rest, said, skip, small_task, start, without_nvcc, write

without_nvcc()
QUICK = ("--rounds", "1", "--quiet")


def shell(folder, line):
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment(A=ASTRA), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    done.args = [line]
    done.out, done.err = done.stdout.decode(), done.stderr.decode("utf-8", "replace")
    return done


@cases(["--version", "--help", "runs", "doctor", "optimize --help"])
def closed_stdout(folder, words):
    said(shell(folder, f'"$A" {words} >&-'), 1, "standard output")


@cases(["--version", "--help", "runs", "doctor", "optimize --help"])
def full_stdout(folder, words):
    said(shell(folder, f'"$A" {words} >/dev/full'), 1, "standard output", "No space left")


@rest
def closed_stdout_of_a_run(folder):
    small_task(folder)
    said(shell(folder, '"$A" optimize task --rounds 1 --quiet --out run >&-'), 1, "standard output")
    expect(load(os.path.join(folder, "run", "result.json"))["schema"] == 1, "the result is not whole")


@case
def reader_that_leaves(folder):
    small_task(folder)
    done = shell(folder, 'set -o pipefail; "$A" check task --quiet | true')
    expect(done.returncode in (0, 141) and "Broken pipe" not in done.err, done.err)
    out, into = os.pipe()
    os.close(out)
    done = astra(folder, "check", "task", "--quiet", stdout=into)
    os.close(into)
    expect(done.returncode == -signal.SIGPIPE and "astra: " not in done.err, f"{done.returncode} {done.err}")


@rest
def a_reader_of_progress_that_leaves(folder):
    """stderr | head: what can be stopped stops, resumably."""
    small_task(folder)
    done = shell(folder, '"$A" optimize task --rounds 3 --out run 2>&1 >stdout | head -2; echo ${PIPESTATUS[0]}')
    expect(done.out.splitlines()[-1] == "130" and len(done.out.splitlines()) == 3, done.out)
    said(astra(folder, "resume", "run", "--quiet"), 0)


@rest
def told_once_where_both_go(folder):
    """stdout and stderr as one pipe: a candidate stands in one line of it."""
    small_task(folder)
    both = shell(folder, '"$A" optimize task --rounds 1 --out both 2>&1 | cat').out
    apart = shell(folder, '"$A" optimize task --rounds 1 --out apart 2>err | cat').out
    expect("What was tried" in apart and "What was tried" not in both, both)
    expect("geometric mean" in both, both)


@cases(["check task", "bench task", "profile task"])
def full_stdout_of_a_judgement(folder, words):
    small_task(folder)
    said(shell(folder, f'"$A" {words} >/dev/full'), 1, "standard output")


@case
def closed_stderr_and_stdin(folder):
    small_task(folder)
    done = shell(folder, '"$A" check task 2>&- <&-')
    expect(done.returncode == 0 and "sound" in done.out, done.out)


@case
def everything_closed(folder):
    small_task(folder)
    done = shell(folder, '"$A" optimize task --rounds 1 --out run <&- 2>&- >&-')
    expect(done.returncode == 1, done.returncode)
    expect(load(os.path.join(folder, "run", "result.json"))["schema"] == 1, "the result is not whole")


@case
def out_below_a_file(folder):
    small_task(folder)
    write(os.path.join(folder, "file"), "x")
    said(astra(folder, "optimize", "task", *QUICK, "--out", "file/run"), 1, "file")
    said(astra(folder, "optimize", "task", *QUICK, "--out", "file"), 1, "file")


@case
def out_not_writable(folder):
    small_task(folder)
    if os.geteuid() == 0:
        said(astra(folder, "optimize", "task", *QUICK, "--out", "/proc/astra"), 1, "/proc/astra")
        return
    os.mkdir(os.path.join(folder, "closed"), 0o500)
    said(astra(folder, "optimize", "task", *QUICK, "--out", "closed/run"), 1, "closed", "Permission denied")


@rest
def out_has_a_run_already(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", *QUICK, "--out", "run"), 0)
    before = load(os.path.join(folder, "run", "result.json"))
    said(astra(folder, "optimize", "task", *QUICK, "--out", "run"), 2, "astra resume", "--out")
    expect(load(os.path.join(folder, "run", "result.json")) == before, "the old run was touched")


@case
def trace_not_writable(folder):
    small_task(folder)
    said(astra(folder, "check", "task", "--trace", "nowhere/trace"), 1, "nowhere/trace")


@case
def no_compiler(folder):
    small_task(folder)
    env = environment(ASTRA_NVRTC="/nonexistent")
    for verb in ("check", "bench", "profile", "optimize"):
        said(astra(folder, verb, "task", env=env), 1, "/nonexistent", "NVRTC")
    done = astra(folder, "doctor", env=env)
    expect(done.returncode == 1 and "missing" in done.out and "/nonexistent" in done.out, done.out)


@case
def nvcc_that_does_not_work(folder):
    """Without a host compiler nvcc refuses every file; that must not count against a candidate."""
    small_task(folder)
    said(astra(folder, "optimize", "task", *QUICK, "--out", "run", env=environment(ASTRA_NVCC="/bin/false")), 0)
    expect(load(os.path.join(folder, "run", "result.json"))["outcome"] == "improved", "every candidate was refused")


@case
def no_temporary_folder(folder):
    small_task(folder)
    said(astra(folder, "check", "task", env=environment(TMPDIR=os.path.join(folder, "nowhere"))), 1, "nowhere", "TMPDIR")


@rest
def bare_environment(folder):
    small_task(folder)
    keep = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    if "ASTRA_NVRTC" in os.environ:
        keep["ASTRA_NVRTC"] = os.environ["ASTRA_NVRTC"]
    said(astra(folder, "check", "task", env=keep), 0)


@case
def file_size_limit(folder):
    small_task(folder)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    said(astra(folder, "optimize", "task", *QUICK, "--out", "run", preexec_fn=limit), 1, "run")
    expect(not os.path.exists(os.path.join(folder, "run", "result.json")), "half a result was written")


@case
def full_disk(folder):
    small_task(folder)
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "none", disk], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        skip("cannot mount a small file system")
    try:
        said(astra(folder, "optimize", "task", *QUICK, "--out", "disk/run"), 1, "disk/run|full|No space")
        left = [n for n in os.listdir(disk + "/run")] if os.path.isdir(disk + "/run") else []
        expect("result.json" not in left, left)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def finished(folder):
    small_task(folder)
    said(astra(folder, "optimize", "task", *QUICK, "--out", "run"), 0)
    return os.path.join(folder, "run", "run.db")


@cases(["show", "diff", "resume"])
def broken_store(folder, verb):
    write(os.path.join(folder, "run", "run.db"), "this is no database, but it is long enough to be read as one" * 40)
    said(astra(folder, verb, "run"), 1, "run")


@cases(["show", "diff", "resume"])
def empty_run_folder(folder, verb):
    os.mkdir(os.path.join(folder, "run"))
    done = astra(folder, verb, "run")
    said(done, done.returncode if done.returncode in (1, 2) else 2, "run")
    expect(os.listdir(os.path.join(folder, "run")) == [], "reading made a file")


@case
def locked_store(folder):
    database = finished(folder)
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = astra(folder, "resume", "run")
        # A finished run is only read, which another's lock may or may not hinder; it must not hang or crash.
        said(done, done.returncode if done.returncode in (0, 1) else 1)
        if done.returncode == 1:
            expect("lock" in done.err or "use" in done.err, done.err)
    finally:
        holder.close()


@rest
def same_folder_twice_at_once(folder):
    small_task(folder)
    first = start(folder, "optimize", "task", "--rounds", "3", "--out", "run")
    until(lambda: os.path.exists(os.path.join(folder, "run", "run.db")), first)
    said(astra(folder, "optimize", "task", *QUICK, "--out", "run"), 2, "run")
    said(astra(folder, "resume", "run"), 2, "still running, in process|holds no run yet")
    expect(first.wait(300) == 0, "the first run was disturbed")


def until(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        expect(process.poll() is None, f"it ended too early with status {process.returncode}")
        expect(time.monotonic() < end, "it never came")
        time.sleep(0.005)


@case
def hanging_candidate(folder):
    small_task(folder)
    text = KERNEL.replace("    if (i < rows * d)", "    while (factor > 0) i += 0 * rows;\n    if (i < rows * d)")
    done = astra(folder, "bench", "task", write(os.path.join(folder, "hang.cu"), text), "--json")
    said(done, 0)
    expect('"hung"' in done.out, done.out)


@case
def cwd_is_gone(folder):
    task = small_task(folder)
    done = shell(folder, f'mkdir gone && cd gone && rmdir ../gone && "$A" check "{task}"')
    expect(done.returncode in (0, 1), done.err)
    if done.returncode:
        said(done, 1)


@rest
def odd_names(folder):
    path = os.path.join(folder, "a task's \"odd\" näme")
    shutil.move(small_task(folder), path)
    said(astra(folder, "optimize", path, *QUICK, "--out", os.path.join(folder, "ö u t")), 0)
    said(astra(folder, "show", os.path.join(folder, "ö u t")), 0)


main()
