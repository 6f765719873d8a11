"""Whole runs: the result, the table, the patch, the same again, two at once, budgets, devices, regimes. The first has nvcc."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess

from harness import (ASTRA, GAINS, KERNEL, NVCC, ROUNDS, TASK, astra, case, cases, environment, expect, finished, load, main, on_terminal, optimize, read, rest, said,
                     same, skip, small_task, without_nvcc, write)

without_nvcc()


@case
def a_run_from_end_to_end(folder):
    """With all that is there, and the processor time of nvcc, which the other runs do without."""
    small_task(folder)
    done = said(astra(folder, "optimize", "task", *ROUNDS, "--out", "run", "--json", env=environment(ASTRA_NVCC=NVCC)), 0)
    result = json.loads(done.out)
    expect(result == load(os.path.join(folder, "run", "result.json")), "stdout is not result.json")
    expect(result["schema"] == 1 and result["task"] == "scale_rows", result)
    expect(result["outcome"] == "improved" and result["speedup"]["geomean"] > 1.03, result["speedup"])
    expect(result["speedup"]["low"] is None and result["device"]["basis"] == "modelled", result)
    expect([w["dims"] for w in result["workloads"]] == [{"rows": 64, "d": 512}, {"rows": 256, "d": 1024}], "dims")
    expect(all(w["speedup"] >= 0.9999 for w in result["workloads"]), result["workloads"])
    expect(result["verification"]["cases"] >= 8 and result["verification"]["hidden"] >= 8, result["verification"])
    expect(sum(result["candidates"]["by_verdict"].values()) == result["candidates"]["total"] > 0, "candidates")
    expect("round 1" in done.err, "no progress on stderr")


@case
def quiet_is_quiet(folder):
    small_task(folder)
    done = said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--tune-budget", "0", "--min-mutation", "0", "--quiet",
                      "--out", "run"), 0)
    expect(done.err == "" and "best.cu" in done.out, f"words on stderr: {done.err}\n{done.out}")


@case
def the_table_and_the_list(folder):
    done = finished(folder)
    for word in ("workload", "original", "best", "speed-up", "of copy", "bound by", "modelled", "`astra report run`", "`astra export run --to"):
        expect(word in done.out, f"no '{word}' in\n{done.out}")
    expect("\x1b" not in done.out + done.err, "colours where there is no terminal")
    shown = astra(folder, "show", "run").out
    expect("errors in ulps" in shown, "show has no table of errors")
    start = shown.rindex("\n\n", 0, shown.index("errors in ulps"))
    end = shown.index("\n\nrun/best.cu", start)
    expect(shown[:start] + shown[end:] == done.out, "show says something else beside the errors")


@case
def the_summary_fits_the_terminal(folder):
    """Wrapped between words to the terminal's width; a pipe gets whole lines."""
    whole = finished(folder).out
    columns = 60
    shown = on_terminal(folder, columns, "show", "run")
    expect(max(map(len, whole.splitlines())) > columns, "nothing was too long")
    expect(shown.split() == astra(folder, "show", "run").out.split(), f"the terminal is told something else:\n{shown}")
    for line in shown.splitlines():
        expect(len(line) <= columns or " " not in line.strip(), f"{len(line)} columns of {columns}: {line!r}")


LAUNCH = "    scale_rows_kernel<<<(n + 127) / 128, 128, 0, stream>>>(in, out, rows, d, factor);\n"


@cases([("one", "    if (n < 100000)\n    ", r"slower on 1 of 2 workloads, rows=64 d=512: "),
        ("all", "", r"slower on 2 of 2 workloads, most on rows=256 d=1024: ")])
def slower_says_on_how_many(folder, row):
    """The kernel runs twice, on the small workload or on both."""
    small_task(folder)
    expect(LAUNCH in KERNEL, "the small task's launch is another one")
    write(os.path.join(folder, "twice.cu"), KERNEL.replace(LAUNCH, LAUNCH + row[1] + LAUNCH))
    done = said(astra(folder, "bench", "task", "twice.cu"), 0)
    figures = r"\d+\.\d\d us, the original \d+\.\d\d us \(\+\d+\.\d %\); 0\.\d\dx in the geometric mean$"
    expect(re.search("^verdict: " + row[2] + figures, done.out, re.M), done.out)


@case
def errors_of_the_compiler_stand_together(folder):
    """Three at most, each with its line; the verdict's line is the first one's."""
    small_task(folder)
    wrong = KERNEL.replace("int i = block", "int i = first; i = block").replace("rows * d)\n", "rows * depth)\n", 1).replace("* factor)", "* scale)")
    write(os.path.join(folder, "wrong.cu"), wrong.replace("out[i] =", "none[i] = out[i] ="))
    done = said(astra(folder, "bench", "task", "wrong.cu"), 0)
    verdict = re.search("^verdict: compile-failed.*$", done.out, re.M)
    lines = re.findall(r"line (\d+): error: identifier \"(\w+)\"", verdict.group() if verdict else "")
    expect(lines == [("5", "first"), ("6", "depth"), ("7", "none")], done.out)
    expect("\n    int i = first; i = block" in done.out.replace("        ", "    "), done.out)


@case
def the_patch_gives_the_best(folder):
    finished(folder)
    diff = said(astra(folder, "diff", "run"), 0).out
    expect(diff == read(os.path.join(folder, "run", "best.diff")), "diff is not best.diff")
    if not shutil.which("patch"):
        skip("no patch here")
    shutil.copy(os.path.join(folder, "task", "kernel.cu"), os.path.join(folder, "patched.cu"))
    subprocess.run(["patch", "-s", "patched.cu"], cwd=folder, input=diff, text=True, check=True)
    expect(read(os.path.join(folder, "patched.cu")) == read(os.path.join(folder, "run", "best.cu")), "not best.cu")


@case
def the_best_compiles_with_nvcc(folder):
    nvcc = shutil.which("nvcc")
    if not nvcc:
        skip("no nvcc here")
    finished(folder)
    done = subprocess.run([nvcc, "-arch=sm_90", "-c", "-o", "/dev/null", "run/best.cu"], cwd=folder, check=False,
                          capture_output=True, text=True)
    if "cannot execute" in done.stderr or "Failed to preprocess host compiler" in done.stderr:
        skip("no host compiler for nvcc here")
    expect(done.returncode == 0, done.stderr)


@case
def an_original_that_nvcc_refuses_ends_the_run(folder):
    """At the first version that cannot be given back, not after all of them."""
    if not shutil.which("nvcc"):
        skip("no nvcc here")
    small_task(folder, GAINS.replace("entry: scale_rows", "entry: int2"), KERNEL.replace("void scale_rows(", "void int2("))
    done = said(astra(folder, "optimize", "task", *ROUNDS, "--out", "run", env=environment(ASTRA_NVCC=NVCC)), 2,
                r"kernel\.cu:\d+: the original: nvcc refuses it, though NVRTC does not: .*int2")
    expect(done.err.count("confirms candidate") == 1, done.err)


@case
def bench_agrees_with_the_run(folder):
    finished(folder)
    bench = json.loads(said(astra(folder, "bench", "task", "run/best.cu", "--seed", "7", "--json"), 0).out)
    result = load(os.path.join(folder, "run", "result.json"))
    keys = set(result["verification"]) - {"roundings"}  # of the steps on the way
    expect(set(bench["verification"]) == keys and bench["verification"]["hidden"] == 0, set(bench["verification"]) ^ keys)
    expect(bench["verdict"] == "passed" and bench["schema"] == 1, bench["verdict"])
    expect(abs(bench["speedup"]["geomean"] - result["speedup"]["geomean"]) < 1e-7, bench["speedup"])
    again = json.loads(said(astra(folder, "bench", "task", "task/kernel.cu", "--json"), 0).out)
    expect(again["verdict"] in ("slower", "passed") and abs(again["speedup"]["geomean"] - 1) < 1e-9, again["verdict"])


@cases([("wrong", "* factor", "+ factor", "wrong"), ("unsafe", "i < rows * d", "i <= rows * d", "unsafe"),
        ("broken", "* factor);", "* facter);", "compile-failed"),
        ("not understood", "int n = rows * d;", "int n = rows * d; printf(\"x\");", "not-understood")])
def bench_verdict(folder, row):
    path = os.path.join(small_task(folder), "other.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(read(os.path.join(folder, "task", "kernel.cu")).replace(row[1], row[2]))
    done = said(astra(folder, "bench", "task", path, "--json"), 0)
    bench = json.loads(done.out)
    expect(bench["verdict"] == row[3] and bench["words"], bench)
    expect(bench["line"] or row[3] == "wrong", bench)
    text = said(astra(folder, "bench", "task", path), 0).out
    expect(row[3] in text and "nan" not in text, text)


@case
def redundant_traffic_is_said(folder):
    """Correct, so no reason to refuse: each second thread stores its neighbour's element too."""
    path = os.path.join(small_task(folder), "other.cu")
    text = read(os.path.join(folder, "task", "kernel.cu"))
    twice = ("    __shared__ float idle[1024];\n    idle[threadIdx.x] = factor;\n    __syncthreads();\n"
             "    if (factor == 123456.75f) out[0] = __float2half(idle[threadIdx.x ^ 1]);\n"
             "    if (threadIdx.x % 2 == 1 && i < rows * d) out[i - 1] = __float2half(__half2float(in[i - 1]) * factor);\n    if (i < rows * d)")
    write(path, text.replace("    if (i < rows * d)", twice, 1))
    bench = json.loads(said(astra(folder, "bench", "task", path, "--json"), 0).out)
    lines = {x["text"].split("(")[0]: x for x in bench["verification"]["redundant_traffic"]}
    expect(bench["verdict"] in ("passed", "slower"), bench)
    expect(any(0.3 < x["again_bytes"] / x["stored_bytes"] <= 1 and x["equal_bytes"] > 0 for x in lines.values()
               if x["stored_bytes"]), lines)
    expect(any(x["unread_bytes"] == x["staged_bytes"] > 0 for x in lines.values()), lines)
    expect(not bench["verification"]["original_redundant_traffic"], bench["verification"])
    for verb in (("bench", "task", path), ("profile", "task", path)):
        done = said(astra(folder, *verb), 0)
        expect("of its bytes again" in done.out and "for nobody to read" in done.out, done.out)


@case
def code_that_nothing_ran_is_said(folder):
    """No shape of the domain reaches the line: no reason to refuse, and none to keep quiet."""
    path = os.path.join(small_task(folder), "other.cu")
    text = read(os.path.join(folder, "task", "kernel.cu"))
    write(path, text.replace("    if (i < rows * d)", "    if (d == -12345) out[0] = in[1];\n    if (i < rows * d)", 1))
    expect(read(path) != text, "nothing was put in")
    bench = json.loads(said(astra(folder, "bench", "task", path, "--json"), 0).out)
    coverage = bench["verification"]["coverage"]
    lines = [x for x in coverage["lines"] if "-12345" in x["what"]]
    expect(bench["verdict"] in ("passed", "slower") and lines and lines[0]["instructions"] > 0, bench["verification"])
    expect(coverage["executed"] < coverage["instructions"] and not lines[0]["original"], coverage)
    expect(not any("-12345" in x["what"] for x in bench["verification"]["original_coverage"]["lines"]), "the original has it")
    done = said(astra(folder, "bench", "task", path), 0)
    expect("were run by no case: line" in done.out and "if (d == -12345)" in done.out, done.out)


@case
def profile_names_lines(folder):
    small_task(folder)
    done = said(astra(folder, "profile", "task"), 0)
    expect("__half2float" in done.out and "modelled" in done.out and "registers" in done.out, done.out)
    expect(json.loads(said(astra(folder, "profile", "task", "--json"), 0).out)["bound_by"], "bound_by")


@case
def the_same_seed_the_same_run(folder):
    finished(folder)
    optimize(folder, "again", "--jobs", "1" if os.cpu_count() > 1 else "2")
    same(folder, "run", "again")


@rest
def two_at_once_do_not_meet(folder):
    finished(folder, "alone")
    os.mkdir(os.path.join(folder, "one"))
    os.mkdir(os.path.join(folder, "two"))
    # Default folders, same task, same moment: the names must differ too.
    runs = [subprocess.Popen([ASTRA, "optimize", "task", *ROUNDS, "--quiet"], cwd=folder, env=environment(),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(2)]
    expect([run.wait(300) for run in runs] == [0, 0], "one of them failed")
    made = sorted(os.listdir(os.path.join(folder, "astra-runs")))
    expect(made == ["task-1", "task-2"], made)
    for name in made:
        same(folder, "alone", os.path.join("astra-runs", name))
    listed = json.loads(astra(folder, "runs", "--json").out)
    expect(len(listed) == 2 and all(run["status"] == "done" for run in listed), listed)


@case
def bench_of_several_files(folder):
    """One after the other, with what each takes of the device; as text, Markdown and JSON."""
    small_task(folder)
    wide = KERNEL.replace("128, 0, stream", "256, 0, stream")
    write(os.path.join(folder, "wide.cu"), wide)
    write(os.path.join(folder, "wrong.cu"), wide.replace("* factor", "+ factor"))
    words = ["bench", "task", "wide.cu", "wrong.cu"]
    told = json.loads(said(astra(folder, *words, "--json"), 0).out)["versions"]
    expect([x["verdict"] != "wrong" for x in told] == [True, False], [x["verdict"] for x in told])
    own = told[0]["resources"]["version"]
    expect(own["registers"] > 0 and own["dynamic_shared_bytes"] == 0 and 0 < own["occupancy"][0] <= 1, own)
    v = told[0]["verification"]
    expect(v["identical_cases"] == v["cases"] and v["identical_elements"] == v["elements"] > 1000, v)
    text = said(astra(folder, *words), 0).out
    expect("bit-identical to the original on all" in text and "dynamic shared" in text, text)
    markdown = said(astra(folder, *words, "--markdown"), 0).out
    expect("| version" in markdown and "## wide.cu" in markdown and "| wrong.cu" in markdown, markdown)
    said(astra(folder, *words, "--markdown", "--json"), 2, "two forms")
    said(astra(folder, *words, "--fail-under", "1"), 4, "wrong")


@case
def not_bit_identical(folder):
    """A version that differs in a last bit says in how many elements, and how far off."""
    path = small_task(folder, TASK.replace("value: 0.5", "value: 0.3"))
    write(os.path.join(folder, "other.cu"), KERNEL.replace("* factor", "* factor * (i % 2 ? 1.0003f : 0.9997f)"))
    text = said(astra(folder, "bench", path, "other.cu"), 0).out
    expect("verdict: wrong" not in text and re.search(r"bit-identical to the original in \d+ of \d+ elements \(\d+\.\d\d %\); largest error", text), text)


@case
def exact_asks_for_every_byte(folder):
    """What the error rule lets pass is wrong with --exact, or `exact: true`; a run keeps the wish."""
    path = small_task(folder, TASK.replace("value: 0.5", "value: 0.3"))
    write(os.path.join(folder, "other.cu"), KERNEL.replace("* factor", "* factor * (i % 2 ? 1.0003f : 0.9997f)"))
    words = r"verdict: wrong.*element \d+ of out is \S+, the original has \S+, and outputs were asked to be bit-identical \(.*rows=\d+"
    expect(not re.search("verdict: wrong", said(astra(folder, "bench", path, "other.cu"), 0).out), "wrong without it")
    text = said(astra(folder, "bench", path, "other.cu", "--exact"), 0).out
    expect(re.search(words, text), text)
    expect("verdict: wrong" not in said(astra(folder, "bench", path, os.path.join(path, "kernel.cu"), "--exact"), 0).out, "the original itself")
    done = optimize(folder, "run", "--exact")
    result = load(os.path.join(folder, "run", "result.json"))
    v = result["verification"]
    expect(result["provenance"]["exact"] is True and v["identical_elements"] == v["elements"] and v["roundings"] == [], done.out)
    said(astra(folder, "verify", "run"), 0)
    small_task(folder, TASK.replace("value: 0.5", "value: 0.3") + "exact: true\n")
    text = said(astra(folder, "bench", path, "other.cu"), 0).out
    expect(re.search(words, text), text)
    small_task(folder, TASK + "exact: perhaps\n")
    said(astra(folder, "bench", path), 2, "exact: must be true or false")
    small_task(folder, TASK + "exact: true\naccept: [nondeterminism]\n")
    said(astra(folder, "bench", path), 2, "cannot be bit-identical")


@rest
def who_moved_a_rounding(folder):
    """A best version that is not bit-identical says which steps moved roundings, and by how much."""
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
    path = os.path.join(shutil.copytree(os.path.join(examples, "softmax"), os.path.join(folder, "short")), "task.yaml")
    text = re.sub(r"domain: .*?flags:", "domain: [rows >= 1, rows <= 64, d >= 1, d <= 8192]\nworkloads: [[64, 8192]]\nflags:", read(path),
                  flags=re.S)
    write(path, text)
    text = said(astra(folder, "optimize", "short", "--rounds", "1", "--candidates", "1", "--min-mutation", "0", "--device", "sim",
                      "--out", "run"), 0).out
    v = load(os.path.join(folder, "run", "result.json"))["verification"]
    expect(v["identical_elements"] < v["elements"] and v["roundings"], v["roundings"])
    last = v["roundings"][-1]
    expect("shuffle" in last["step"] and last["apart_ulp"] > 0 and last["identical_elements"] < last["elements"], last)
    expect(f"`{last['step']}` moved roundings, by then at most {last['apart_ulp']:.3g} ulp" in text, text)


@case
def the_newest_or_the_beginning_of_a_name(folder):
    """Without RUN the newest, said on stderr; and no more of a name need be typed than only one has."""
    os.mkdir(os.path.join(folder, "astra-runs"))
    finished(folder, "astra-runs/scale-1")
    shutil.copytree(os.path.join(folder, "astra-runs/scale-1"), os.path.join(folder, "astra-runs/scale-2"))
    shutil.copytree(os.path.join(folder, "astra-runs/scale-1"), os.path.join(folder, "astra-runs/other run"))
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "astra-runs/scale-2/run.db"))) as db, db:
        db.execute("UPDATE run SET started = '2999-01-01T00:00:00Z'")
    for words in (["show"], ["show", "1"], ["diff"], ["diff", "1"], ["report", "--markdown"], ["verify"], ["resume"],
                  ["export", "--to", "cuda"]):
        said(astra(folder, *words), 0, r"run: astra-runs/scale-2, the newest\n")
    expect("best.cu  best.diff" in said(astra(folder, "show", "oth"), 0).out, "no summary")
    expect("astra report 'astra-runs/other run'" in astra(folder, "show", "oth").out, "a command that no shell takes")
    said(astra(folder, "show", "sca"), 2, "beginning of 2 runs: scale-1, scale-2")
    said(astra(folder, "show", "x"), 2, "no run 'x'")


@case
def show_and_diff_of_a_candidate(folder):
    finished(folder)
    expect("scale_rows_kernel" in said(astra(folder, "show", "run", "1"), 0).out, "no source")
    said(astra(folder, "diff", "run", "1"), 0)
    said(astra(folder, "show", "run", "9999"), 2, "9999")
    said(astra(folder, "show", "run", "one"), 2, "one")


@case
def budget_ends_it(folder):
    small_task(folder)
    done = astra(folder, "optimize", "task", "--out", "run", "--budget-time", "0.001s")
    said(done, 3)
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["outcome"] == "unchanged" and result["status"] == "budget", result)
    expect(read(os.path.join(folder, "run", "best.cu")) == read(os.path.join(folder, "task", "kernel.cu")), "best.cu")


@case
def too_slow_to_judge_is_no_failure(folder):
    """A machine without time says nothing of a candidate: nothing is learnt of it, and a resumed run judges it."""
    small_task(folder)
    slow = environment(ASTRA_CANDIDATE_S="0.001")
    write(os.path.join(folder, "same.cu"), KERNEL)
    result = json.loads(said(astra(folder, "bench", "task", "same.cu", "--json", env=slow), 0).out)
    expect(result["verdict"] == "too-slow-to-judge", result)
    expect(re.match(r"too slow to judge: \d+ s compiling.*; \d+ s by the clock, \d+ s of processor time$", result["words"]), result["words"])
    said(astra(folder, "bench", "task", "same.cu", "--fail-under", "1", env=slow), 1, "not known")
    said(astra(folder, "optimize", "task", "--rounds", "1", "--out", "run", "--min-mutation", "0", env=slow), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    by_verdict = result["candidates"]["by_verdict"]
    expect(by_verdict["too-slow-to-judge"] > 1 and "hung" not in by_verdict and "crashed" not in by_verdict, by_verdict)
    more = json.loads(said(astra(folder, "report", "run", "--json"), 0).out)
    expect(any("too slow" in x for x in more["report"]["caveats"]), more["report"]["caveats"])
    said(astra(folder, "resume", "run"), 0)
    result = load(os.path.join(folder, "run", "result.json"))
    expect(result["outcome"] == "improved" and "too-slow-to-judge" not in result["candidates"]["by_verdict"], result["candidates"])
    said(astra(folder, "verify", "run", env=slow), 1, "too slow to judge")
    expect("finished" in said(astra(folder, "resume", "run"), 0).err, "a run in which nothing is left is done")


@rest
def nothing_better_is_said(folder):
    finished(folder, "first")
    shutil.copy(os.path.join(folder, "first", "best.cu"), os.path.join(folder, "task", "kernel.cu"))
    done = astra(folder, "optimize", "task", "--rounds", "1", "--out", "second", "--json")
    result = json.loads(said(done, 0).out)
    expect(all(w["speedup"] >= 0.9999 for w in result["workloads"]), result["workloads"])
    if result["outcome"] == "unchanged":
        expect(result["speedup"]["geomean"] == 1 and read(os.path.join(folder, "second", "best.diff")) == "", result)


@case
def other_device(folder):
    small_task(folder)
    result = json.loads(said(astra(folder, "optimize", "task", "--rounds", "1", "--candidates", "1", "--tune-budget", "0", "--min-mutation", "0",
                                   "--device", "sim:rtx4090", "--out", "run", "--json"), 0).out)
    expect("4090" in result["device"]["name"], result["device"])
    expect("not validated" in astra(folder, "show", "run").out, "nothing says that the device is not validated")


@rest
def hot_regime(folder):
    small_task(folder, TASK.replace("dims:", "regime: hot\ndims:"))
    result = json.loads(optimize(folder, "run", "--json").out)
    expect({w["regime"] for w in result["workloads"]} == {"hot"}, result["workloads"])
    expect({w["regime"] for w in result["other_regime"]} == {"cold"}, result["other_regime"])


@case
def stream_regime(folder):
    """What scores, what stands beside it, and what is left; every face has them, and verify compares them."""
    small_task(folder, TASK.replace("dims:", "regime: stream\ndims:"))
    result = json.loads(optimize(folder, "run", "--json").out)
    tried = json.loads(astra(folder, "report", "run", "--json").out)["report"]["candidates"]
    expect([c["verdict"] in ("passed", "slower") for c in tried if c["name"] == "pdl"] == [True], tried)
    expect({w["regime"] for w in result["workloads"]} == {"stream"}, result["workloads"])
    expect({w["regime"] for w in result["other_regime"]} == {"cold"}, result["other_regime"])
    expect([w["regime"] for w in result["further_regimes"]] == ["hot"] * len(result["workloads"]) + ["stream-pdl"] * len(result["workloads"]),
           result["further_regimes"])
    expect("(stream)" in said(astra(folder, "show", "run"), 0).out and "stream-pdl" in astra(folder, "show", "run").out, "show")
    expect("<summary>Stream-pdl</summary>" in said(astra(folder, "report", "run", "--markdown"), 0).out, "report")
    said(astra(folder, "verify", "run"), 0)


main()
