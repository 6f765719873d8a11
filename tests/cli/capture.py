"""Programs captured, over the driver of tests/fakecuda: tests/capture/program.c comes to it in three ways."""

import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import time
import zlib

from harness import ASTRA, astra, case, cases, environment, expect, load, main, read, said, write

BUILT = os.path.join(os.path.dirname(ASTRA), "tests")
DRIVER = os.environ.get("FAKE_DRIVER", os.path.join(BUILT, "fakecuda", "libfakecuda.so"))
ADD, MUL = "add_three", "_Z5timesIiEvPT_j"


def program(way):
    return os.path.join(BUILT, "captured_linked" if way == "linked" else "captured_finds")


def capture(folder, way, what, *options, **env):
    # The compiler's library must not be found by the program's loader as a driver: only the stand-in is.
    env = {"FAKE_DRIVER": DRIVER, "ASTRA_CAPTURE_CUPTI": "/nowhere", **env}
    return astra(folder, "capture", "--out", "seen", *options, "--", program(way), way, what, env=environment(**env))


def kernels(folder):
    ranking = load(os.path.join(folder, "seen", "ranking.json"))
    return ranking, {k["symbol"]: k for k in ranking["kernels"]}


@cases(["linked", "opened", "asked"])
def every_way_to_the_driver(folder, way):
    done = said(capture(folder, way, "plain"), 0, "captured in seen")
    ranking, by_name = kernels(folder)
    expect(by_name[ADD]["launches"] == 50 and by_name[MUL]["launches"] == 1, ranking)
    expect(by_name[ADD]["shapes"][0]["grid"] == [4, 1, 1] and by_name[ADD]["shapes"][0]["block"] == [64, 1, 1], ranking)
    expect(by_name[ADD]["shapes"][0]["timed"] > 0 and by_name[ADD]["share"] > 0.9 > by_name[MUL]["share"], ranking)
    expect(ranking["kernels"][0]["symbol"] == ADD and ranking["times"] == "events", ranking)
    expect(by_name[MUL]["name"] in ("void times<int>(int*, unsigned int)", MUL), ranking)
    expect("computed " in done.out and "add_three" in done.out, done.out)
    listed = read(os.path.join(folder, "seen", "kernels.txt"))
    expect("tasks/add_three" in listed, listed)
    expect(stat.S_IMODE(os.stat(os.path.join(folder, "seen")).st_mode) == 0o700, "others may read it")


@case
def the_program_is_what_it_was(folder):
    """The same answer with and without; under --json its stdout goes to stderr."""
    alone = astra(folder, "asked", "plain", program=program("asked"), env=environment(FAKE_DRIVER=DRIVER))
    done = said(capture(folder, "asked", "plain", "--json"), 0)
    expect(alone.out and alone.out in done.err, (alone.out, done.err))
    expect(json.loads(done.out)["launches"] == 51, done.out)
    shown = said(astra(folder, "capture", "seen", "--json"), 0)
    expect(json.loads(shown.out) == json.loads(done.out), shown.out)
    expect("add_three" in said(astra(folder, "capture", "seen", "--top", "1"), 0).out, "nothing shown")


@case
def graphs(folder):
    """Nodes count when their graph is launched, not when they are recorded; times come from outside."""
    done = said(capture(folder, "asked", "graph"), 0)
    ranking, by_name = kernels(folder)
    expect(by_name[ADD]["launches"] == 11 and by_name[ADD]["in_graphs"] == 10, ranking)
    expect(by_name[MUL]["launches"] == by_name[MUL]["in_graphs"] == 20 and len(by_name[MUL]["shapes"]) == 2, ranking)
    expect(by_name[MUL]["share"] is None and ranking["not_seen"]["launches_without_time"] == 20, ranking)
    expect(ranking["recorded_into_graphs"] == 3 and ranking["graph_launches"] == 10, ranking)
    expect("20 launches have no time" in done.out and "(null)" not in done.out, done.out)


@case
def every_kernel_by_cupti(folder):
    """Its records are what is counted; the hooks only compare."""
    cupti = os.path.join(BUILT, "fakecuda", "libfakecupti.so")
    done = said(capture(folder, "asked", "plain", "--times", "cupti", ASTRA_CAPTURE_CUPTI=cupti), 0)
    ranking, by_name = kernels(folder)
    row = by_name["recorded"]
    expect(ranking["times"] == "cupti" and list(by_name) == ["recorded"], ranking)
    expect(row["launches"] == 3 and row["in_graphs"] == 2 and row["shapes"][0]["mean_us"] == 3 and row["time_ms"] == 0.009, ranking)
    expect(row["shapes"][0]["grid"] == [7, 1, 1] and row["shapes"][0]["dynamic_shared_bytes"] == 128, ranking)
    expect(ranking["not_seen"]["records_dropped_by_cupti"] == 5 and ranking["processes"][0]["launches_seen_by_hooks"] == 51, ranking)
    expect("timed by CUPTI" in done.out, done.out)


@case
def windows_of_cupti(folder):
    """The hooks count; what CUPTI times in windows stands for the launches between them, too."""
    cupti = os.path.join(BUILT, "fakecuda", "libfakecupti.so")
    done = said(capture(folder, "asked", "long", ASTRA_CAPTURE_CUPTI=cupti, FAKECUPTI_KERNEL=ADD, ASTRA_CAPTURE_BUDGET="1"), 0)
    ranking, by_name = kernels(folder)
    row = by_name[ADD]
    expect(ranking["times"] == "cupti in windows" and ranking["windows"] >= 2 and len(by_name) == 1, ranking)
    expect(row["launches"] == 1500 and 6 <= row["shapes"][0]["timed"] == 3 * ranking["windows"], ranking)
    expect(abs(row["time_ms"] - 1500 * 0.003) < 1e-6 and "timed by CUPTI in " in done.out, (row, done.out))


@case
def a_program_that_profiles_itself(folder):
    """From then on CUPTI is its own."""
    cupti = os.path.join(BUILT, "fakecuda", "libfakecupti.so")
    done = said(capture(folder, "asked", "profiles", ASTRA_CAPTURE_CUPTI=cupti, FAKECUPTI_KERNEL=ADD, LD_LIBRARY_PATH="/nowhere"), 0)
    ranking, by_name = kernels(folder)
    expect("is used by the program itself" in done.out and by_name[ADD]["launches"] == 1500, done.out)
    expect(by_name[ADD]["shapes"][0]["timed"] >= 3 and ranking["windows"] >= 1, ranking)


@case
def cupti_refuses(folder):
    """Then events, and the reason."""
    cupti = os.path.join(BUILT, "fakecuda", "libfakecupti.so")
    done = said(capture(folder, "asked", "plain", ASTRA_CAPTURE_CUPTI=cupti, FAKECUPTI_FAIL="15"), 0)
    expect("libcupti refuses to record kernels (CUPTI's code 15)" in done.out, done.out)
    expect(kernels(folder)[1][ADD]["shapes"][0]["timed"] > 0, done.out)


@case
def launches_are_kept(folder):
    """One for each shape and set of values, those inside a graph too; with the code, readable by their owner alone."""
    done = said(capture(folder, "asked", "graph", "--keep", "times,absent"), 0)
    kept = kernels(folder)[0]["launches_kept"]
    expect([k["grid"] for k in kept] == [[4, 1, 1], [2, 1, 1]] and {k["kernel"] for k in kept} == {MUL}, kept)
    pointer, number = kept[0]["parameters"]
    expect(pointer == {"offset": 0, "bytes": 8, "pointer": True, "from_base": 0, "extent": 2048}, kept)
    expect(number == {"offset": 8, "bytes": 4, "value": "00010000"} and kept[0]["registers"] == 32, kept)
    expect("[2048 B], 128" in done.out and "ptx" in done.out, done.out)
    image = os.path.join(folder, "seen", "images", kept[0]["image"])
    expect(".visible .entry add_three" in read(image) and kept[1]["image"] == kept[0]["image"], kept)
    for path in [image] + [os.path.join(folder, "seen", n) for n in os.listdir(os.path.join(folder, "seen")) if n != "images"]:
        expect(stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"others may read {path}")
    launches = next(n for n in os.listdir(os.path.join(folder, "seen")) if n.endswith(".launches"))
    with open(os.path.join(folder, "seen", launches), "ab") as file:
        file.write(b'{"kernel": "cut')
    done = said(astra(folder, "capture", "seen"), 0)
    expect("holds a line that is no launch" in done.out and "2 launches are kept" in done.out, done.out)


def kept_in(folder, name):
    """What a buffer held, by its name in a kept launch: 16 bytes of a head, then zlib's."""
    with open(os.path.join(folder, "seen", "contents", name + ".z"), "rb") as file:
        return zlib.decompress(file.read()[16:])


@case
def contents_are_kept(folder):
    """What a buffer holds just before a launch, once more some launches later; by its owner alone to be read, and in no
    report of ours. The program computes what it did."""
    done = said(capture(folder, "asked", "plain", "--contents", "add_three"), 0)
    alone = astra(folder, "asked", "plain", program=program("asked"), env=environment(FAKE_DRIVER=DRIVER))
    expect(alone.out and alone.out in done.out and "1 buffer" in done.out, done.out)
    kept = kernels(folder)[0]["launches_kept"]
    held = [kept_in(folder, k["parameters"][0]["contents"]) for k in kept]
    expect(held == [bytes(2048), (48).to_bytes(4, "little") * 256 + bytes(1024)], held)
    for root, folders, names in os.walk(os.path.join(folder, "seen")):
        for name in folders + names:
            mode = stat.S_IMODE(os.stat(os.path.join(root, name)).st_mode)
            expect(mode in (0o700, 0o600), f"{name}: {mode:o}")
    os.rename(os.path.join(folder, "seen"), os.path.join(folder, "first"))
    said(capture(folder, "asked", "plain", "--keep", "add_three"), 0)
    expect(not os.path.exists(os.path.join(folder, "seen", "contents")), "kept without being asked")


@case
def contents_behind_pointers(folder):
    """A pointer in a struct that is passed by value, and the pointers in what it points to: not followed further."""
    said(capture(folder, "asked", "deep", "--contents", "deep"), 0)
    [param] = kernels(folder)[0]["launches_kept"][0]["parameters"]
    [inner] = param["inner"]
    expect(inner["at"] == 0 and inner["extent"] == 64 and len(kept_in(folder, inner["contents"])) == 64, param)
    [behind] = inner["inner"]
    expect(behind["at"] == 0 and kept_in(folder, behind["contents"])[:8] == bytes([3, 0, 0, 0] * 2), param)


@case
def what_is_never_paused(folder):
    """A launch that is recorded into a graph, and a cooperative one: kept, without what buffers hold, and said."""
    said(capture(folder, "asked", "recorded", "--contents", "add_three"), 0)
    kept = kernels(folder)[0]["launches_kept"]
    expect([k["without_contents"] for k in kept] == ["a stream was captured into a graph"], kept)
    os.rename(os.path.join(folder, "seen"), os.path.join(folder, "first"))
    done = said(capture(folder, "asked", "cooperative", "--contents", "add_three"), 0)
    expect("a cooperative launch is never paused" in done.out and not os.path.exists(os.path.join(folder, "seen", "contents")), done.out)


@case
def contents_survive(folder):
    """A crash, a fork, a limit: what was kept by then is there, whole."""
    said(capture(folder, "asked", "crash", "--contents", "add_three"), 1, "ended by signal 6")
    expect([len(kept_in(folder, k["parameters"][0]["contents"])) for k in kernels(folder)[0]["launches_kept"]] == [2048, 2048], "not kept")
    os.rename(os.path.join(folder, "seen"), os.path.join(folder, "first"))
    said(capture(folder, "opened", "fork", "--contents", "add_three"), 0)
    ranking = kernels(folder)[0]
    expect(len([n for n in os.listdir(os.path.join(folder, "seen")) if n.endswith(".launches")]) == 2 and len(ranking["launches_kept"]) == 4, ranking)
    expect(len(os.listdir(os.path.join(folder, "seen", "contents"))) == 2, "not named by what it holds")


def while_it_waits(folder, name):
    """A capture under way, its program at rest: both processes' numbers."""
    env = environment(FAKE_DRIVER=DRIVER, ASTRA_CAPTURE_CUPTI="/nowhere")
    with open(os.path.join(folder, name + ".out"), "wb") as out, open(os.path.join(folder, name + ".err"), "wb") as err:
        ours = subprocess.Popen([ASTRA, "capture", "--contents", "add_three", "--out", name, "--", program("asked"), "asked", "waits"],
                                cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    for _ in range(3000):
        if "computed" in read(os.path.join(folder, name + ".out")):
            break
        time.sleep(0.01)
    [counts] = [n for n in os.listdir(os.path.join(folder, name)) if n.endswith(".counts")]
    return ours, int(counts.split("-")[0])


@case
def killed(folder):
    """kill -9 of the program, and of astra: what was kept by then is whole, and usable."""
    write(os.path.join(folder, "add.cu"), KERNEL)
    ours, theirs = while_it_waits(folder, "one")
    os.kill(theirs, signal.SIGKILL)
    expect(ours.wait(60) == 1 and "was ended by signal 9" in read(os.path.join(folder, "one.err")), read(os.path.join(folder, "one.err")))
    ours, theirs = while_it_waits(folder, "two")
    ours.kill()
    ours.wait(60)
    os.kill(theirs, signal.SIGKILL)
    expect(not os.path.exists(os.path.join(folder, "two", "ranking.json")), "it was not killed")
    write(os.path.join(folder, "two", "contents", "0" * 32 + ".999999999"), "cut off")
    for name in ("one", "two"):
        done = said(astra(folder, "capture", name), 0)
        expect("add_three" in done.out and "1 buffer" in done.out and "ended by a signal" in done.out, done.out)
        done = said(astra(folder, "init", "add.cu:add_three", "--capture", name, "--out", "of_" + name), 0)
        expect("2 of them with what their buffers held" in done.out, done.out)


@case
def no_room_for_contents(folder):
    """A file that may not grow so far: one message, and the program goes on."""
    limited = write(os.path.join(folder, "limited"), f"#!/bin/sh\nulimit -f 6400\nexec {program('asked')} asked big\n")
    os.chmod(limited, 0o755)
    done = said(astra(folder, "capture", "--contents", "add_three", "--out", "seen", "--", "./limited", env=environment(FAKE_DRIVER=DRIVER, ASTRA_CAPTURE_CUPTI="/nowhere")),
                0, "no more launches are kept: .*File too large")
    expect("computed" in done.out and len(re.findall("astra capture: process", done.err)) == 1, done.err)
    expect(os.listdir(os.path.join(folder, "seen", "contents")) == [], "a file cut short stays")


KERNEL = """extern "C" __global__ void add_three(unsigned *p, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 3;
}

extern "C" void add(unsigned *p, int n, cudaStream_t stream)
{
    add_three<<<(n + 63) / 64, 64, 0, stream>>>(p, (unsigned)n);
}
"""


@case
def launches_become_workloads(folder):
    """With their shares of the time; what they do not keep, as an alignment, the task does not promise."""
    write(os.path.join(folder, "add.cu"), KERNEL)
    said(capture(folder, "asked", "shapes", "--keep", "add_three"), 0)
    done = said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", "task"), 0)
    expect("4 of 4 kept launches of add_three are the launcher's, with 4 shapes" in done.out, done.out)
    text = read(os.path.join(folder, "task", "task.yaml"))
    workloads, weights = re.search(r"workloads: # as captured.*\n((?:  - \[\d+\]\n)+)weights: \[(.*)\] # shares of the kernel's time", text).groups()
    expect(sorted(re.findall(r"\d+", workloads)) == ["100", "192", "250", "256"], text)
    expect(abs(sum(map(float, weights.split(", "))) - 1) < 1e-5 and "align: 4}" in text and "TODO: your sizes" not in text, text)
    said(astra(folder, "check", "task", "--mutants", "0", "--device", "sim"), 0)
    shown = json.loads(said(astra(folder, "bench", "task", "add.cu", "--device", "sim", "--json"), 0).out)
    expect(all(abs(w["weight"] - float(x)) < 1e-5 for w, x in zip(shown["workloads"], weights.split(", "))), shown)


@case
def contents_become_hidden_cases(folder):
    """A version that is wrong on the program's own data alone is found at the confirmation, and no message says what the data
    is; a run keeps no copy of it, and then says that it lacks these cases."""
    write(os.path.join(folder, "add.cu"), KERNEL)
    said(capture(folder, "asked", "plain", "--contents", "add_three"), 0)
    done = said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", "task"), 0)
    expect("2 of them with what their buffers held" in done.out, done.out)
    inputs = os.path.join(folder, "task", "inputs")
    expect([stat.S_IMODE(os.stat(os.path.join(inputs, n)).st_mode) for n in os.listdir(inputs)] == [0o600] * 2, "others may read it")
    wrong = KERNEL.replace("p[i] += 3;", "p[i] += i == 200 && n == 256 && p[i] == 48 ? 77 : 3;")
    write(os.path.join(folder, "wrong.cu"), wrong)
    bench = ("bench", "task", "wrong.cu", "--device", "sim", "--hidden-seed", "1")
    plain = astra(folder, *bench)
    confirmed = astra(folder, *bench, "--confirm")
    expect("as captured" not in plain.out + plain.err and "element 200 of p is not what it must be (n=256, values: as captured)" in confirmed.out + confirmed.err,
           (plain.out, confirmed.out, confirmed.err))
    right = astra(folder, "bench", "task", "add.cu", "--device", "sim", "--hidden-seed", "1", "--confirm")
    expect(right.returncode == 0 and "as captured" not in right.out + right.err, right.out + right.err)
    shutil.rmtree(inputs)
    absent = astra(folder, *bench, "--confirm", "--json")
    expect("2 of 2 cases of a program's own data (their files are not on this machine)" in absent.out, absent.out)


@case
def inputs_that_are_broken(folder):
    """Cut short, changed, or not there: one message with the file's name."""
    write(os.path.join(folder, "add.cu"), KERNEL)
    said(capture(folder, "asked", "plain", "--contents", "add_three"), 0)
    contents = os.path.join(folder, "seen", "contents")
    name = sorted(os.listdir(contents))[0]
    with open(os.path.join(contents, name), "rb") as file:
        whole = file.read()
    for i, broken in enumerate((whole[:10], whole[:-3], whole[:16] + b"x" * 20, whole[:8] + b"\xff" * 8 + whole[16:])):
        write(os.path.join(contents, name), broken)
        said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", f"task{i}"), 2, name)
    other = sorted(os.listdir(contents))[1]
    shutil.copy(os.path.join(contents, other), os.path.join(contents, name))
    said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", "other"), 2, "does not hold what its name says")
    os.remove(os.path.join(contents, name))
    said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", "gone"), 1, "contents")


def edit(path, change):
    text = read(path)
    write(path, change(text))
    return text


@case
def a_kernel_without_source(folder):
    """Its launches run on the simulator, from the PTX that the program loaded, with what its buffers held: what they touch, what
    is wrong with them, their time; of machine code alone this is said not to go."""
    said(capture(folder, "asked", "deep", "--contents", "deep,add_three"), 0)
    rows = {r["kernel"]: r for r in json.loads(said(astra(folder, "sanitize", "--capture", "seen", "--json"), 0).out)}
    expect(rows["add_three"]["end"] == "done" and rows["add_three"]["real_data"] and rows["add_three"]["findings"] == [], rows)
    expect([(b["touched"], b["extent"]) for b in rows["add_three"]["buffers"]] == [(1024, 2048)], rows)
    expect([(b["of"], b["touched"], b["wrote"]) for b in rows["deep"]["buffers"]] ==
           [("parameter 1+0", 8, False), ("parameter 1+0+0", 240, True)], rows)
    [row] = json.loads(said(astra(folder, "profile", "--capture", "seen", "deep", "--json"), 0).out)
    expect(row["kernel"] == "deep" and row["modelled_us"] > 0 and row["bound_by"], row)
    launches = os.path.join(folder, "seen", next(n for n in os.listdir(os.path.join(folder, "seen")) if n.endswith(".launches")))
    whole = edit(launches, lambda t: t.replace('"extent": 2048', '"extent": 512'))
    done = said(astra(folder, "sanitize", "--capture", "seen", "add_three"), 4)
    expect("out-of-bounds" in done.out and "1 finding" in done.out, done.out)
    write(launches, whole.replace(".ptx", ".cubin"))
    done = said(astra(folder, "profile", "--capture", "seen"), 0)
    expect("not run: the program loaded machine code, no PTX: it is ranked and timed" in done.out, done.out)
    write(launches, whole.replace('"image": "', '"image": "../'))
    expect("is no name of an image" in said(astra(folder, "profile", "--capture", "seen"), 0).out, "followed")
    said(astra(folder, "profile", "--capture", "seen", "absent"), 2, "keeps no launch of absent")
    said(astra(folder, "profile"), 2, "needs DIR")


@case
def captures_that_make_no_sense(folder):
    """Bytes of what was kept changed at random: an answer or one complaint, never a crash."""
    write(os.path.join(folder, "add.cu"), KERNEL)
    said(capture(folder, "asked", "deep", "--contents", "deep,add_three"), 0)
    seen = os.path.join(folder, "seen")
    path = os.path.join(seen, next(n for n in os.listdir(seen) if n.endswith(".launches")))
    with open(path, "rb") as file:
        whole = file.read()
    draw = random.Random(1)
    for i in range(40):
        broken = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            broken[draw.randrange(len(broken))] = draw.choice(b'0123456789"{}[],x-')
        write(path, bytes(broken))
        for words in (("sanitize", "--capture", "seen"), ("init", "add.cu:add_three", "--capture", "seen", "--out", f"task{i}"))[: 1 + (i % 8 == 0)]:
            done = astra(folder, *words)
            expect(done.returncode in (0, 1, 2, 4), f"{i}: status {done.returncode}: {done.err}")
            if done.returncode in (1, 2):
                said(done, done.returncode)


@case
def launches_without_times_or_of_others(folder):
    write(os.path.join(folder, "add.cu"), KERNEL)
    said(capture(folder, "asked", "shapes", "--keep", "add_three", "--times", "none"), 0)
    said(astra(folder, "init", "add.cu:add_three", "--capture", "seen", "--out", "task"), 0)
    text = read(os.path.join(folder, "task", "task.yaml"))
    expect("shares of the kernel's launches, since no times are known" in text, text)
    done = said(astra(folder, "init", "add.cu", "--capture", "seen"), 2, "--capture goes with a kernel")
    write(os.path.join(folder, "other.cu"), KERNEL.replace("add_three", "add_four"))
    done = said(astra(folder, "init", "other.cu:add_four", "--capture", "seen", "--out", "other"), 0)
    expect("the capture keeps no launch of add_four" in done.out and "TODO: your sizes" in read(os.path.join(folder, "other", "task.yaml")), done.out)
    write(os.path.join(folder, "wide.cu"), KERNEL.replace("63) / 64, 64", "127) / 128, 128"))
    done = said(astra(folder, "init", "wide.cu:add_three", "--capture", "seen", "--out", "wide"), 0)
    expect("0 of 4 kept launches" in done.out and "not understood: for no dims tried" in done.out, done.out)
    said(astra(folder, "init", "add.cu:add_three", "--capture", "nowhere", "--out", "no"), 2, "nowhere: No such file")


@case
def two_threads(folder):
    said(capture(folder, "asked", "threads"), 0)
    ranking, by_name = kernels(folder)
    expect(by_name[ADD]["launches"] == 100, ranking)


@case
def a_program_that_forks(folder):
    """Each process has its own counts."""
    said(capture(folder, "opened", "fork"), 0)
    ranking, by_name = kernels(folder)
    expect(len(ranking["processes"]) == 2 and by_name[ADD]["launches"] == 100 and by_name[MUL]["launches"] == 1, ranking)


@case
def a_crash_loses_nothing(folder):
    done = said(capture(folder, "asked", "crash"), 1, "ended by signal 6")
    ranking, by_name = kernels(folder)
    expect(by_name[ADD]["launches"] == 50 and ranking["not_seen"]["processes_cut_off"] == 1, ranking)
    expect("ended by a signal or _exit" in done.out, done.out)


@case
def a_status_is_told(folder):
    said(capture(folder, "asked", "fails"), 1, "ended with status 3")
    expect(kernels(folder)[0]["launches"] == 51, "not counted")


@case
def only_counts(folder):
    done = said(capture(folder, "asked", "plain", "--times", "none"), 0)
    ranking, by_name = kernels(folder)
    expect(by_name[ADD]["launches"] == 50 and by_name[ADD]["share"] is None, ranking)
    expect("no times were asked for" in done.out, done.out)


@case
def what_cannot_be_captured(folder):
    own = write(os.path.join(folder, "own"), "#!/bin/sh\nexit 0\n")
    os.chmod(own, 0o755)
    said(astra(folder, "capture", "--out", "none", "--", "./own"), 2, "no kernel was launched that it could see")
    said(astra(folder, "capture", "--", "sh", "-c", "exit 7"), 2, "sh ended with status 7: .*no kernel was launched")
    said(astra(folder, "capture", "--", "./absent"), 2, "there is no program ./absent")
    expect(os.listdir(os.path.join(folder, "astra-captures")) == [], "an empty capture stays")
    said(astra(folder, "capture", "--"), 2, "no program follows the --")
    said(astra(folder, "capture"), 2, "takes -- and a program")
    said(astra(folder, "capture", "--out", "own", "--", "./own"), 2, "own is there already")
    said(astra(folder, "capture", "--times", "often", "--", "./own"), 2, "--times is auto, cupti, events or none")
    said(astra(folder, "capture", "nowhere"), 2, "nowhere: No such file", "makes a capture")
    if os.geteuid():
        setuid = shutil.copy("/bin/true", os.path.join(folder, "setuid"))
        os.chmod(setuid, 0o4755)
        said(astra(folder, "capture", "--", "./setuid"), 2, "is setuid")
    static = write(os.path.join(folder, "static"), b"\x7fELF\2\1\1" + bytes(57))
    with open(static, "r+b") as file:
        file.seek(54)
        file.write((56).to_bytes(2, "little"))
    os.chmod(static, 0o755)
    said(astra(folder, "capture", "--", "./static"), 2, "linked statically")


@case
def files_that_are_broken(folder):
    said(capture(folder, "asked", "plain"), 0)
    seen = os.path.join(folder, "seen")
    name = next(n for n in os.listdir(seen) if n.endswith(".counts"))
    with open(os.path.join(seen, name), "rb") as file:
        whole = bytearray(file.read())
    write(os.path.join(seen, "cut-0.counts"), bytes(whole[:1000]))
    done = said(astra(folder, "capture", "seen"), 0)
    expect("cut short" in done.out and "add_three" in done.out, done.out)
    os.remove(os.path.join(seen, name))
    said(astra(folder, "capture", "seen"), 2, "cut short")
    at = whole.index(b"add_three") - 1
    records = whole.index((64).to_bytes(4, "little"), 600) - 16
    whole[records:records + 4] = (1 << 31).to_bytes(4, "little")
    whole[at + 1:] = b"x" * (len(whole) - at - 1)
    write(os.path.join(seen, name), bytes(whole))
    os.remove(os.path.join(seen, "cut-0.counts"))
    said(astra(folder, "capture", "seen"), 2, "records make no sense")


@case
def no_room_for_counts(folder):
    """A limit on files' sizes, a folder that may not be written: the program goes on, one message says why."""
    limited = write(os.path.join(folder, "limited"), f"#!/bin/sh\nulimit -f 100\nexec {program('asked')} asked plain\n")
    os.chmod(limited, 0o755)
    done = said(astra(folder, "capture", "--out", "seen", "--", "./limited", env=environment(FAKE_DRIVER=DRIVER)), 2,
                "nothing is counted: the limit of a file's size", "no kernel was launched that it could see")
    expect("computed" in done.out, done.out)


main()
