"""Where a result comes from: its hashes, `astra verify`, and every way of changing a result that it must find."""

import json
import os
import shutil

from harness import ROUNDS, astra, case, cases, expect, finished, load, main, read, rest, said, small_task, write


NVCC = shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")


def moved(folder):
    """A finished run in the case's folder, without its store and its task."""
    finished(folder, "moved")
    shutil.rmtree(os.path.join(folder, "task"))
    os.remove(os.path.join(folder, "moved", "run.db"))
    return os.path.join(folder, "moved")


def edit(path, old, new):
    text = read(path)
    expect(old in text, f"{old!r} is not in {path}")
    write(path, text.replace(old, new, 1))


def redigest(folder, change):
    """A forger who knows the format: the change, and a digest that fits."""
    import hashlib

    path = os.path.join(folder, "result.json")
    result = load(path)
    change(result)
    result["provenance"].pop("digest")
    # A float as the program prints it is what Python prints for it, for figures of nine digits.
    text = json.dumps(result, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    result["provenance"]["digest"] = hashlib.sha256(text.encode()).hexdigest()
    write(path, json.dumps(result))


@case
def it_holds_anywhere(folder):
    run = moved(folder)
    done = said(astra(folder, "verify", "moved", "--json"), 0)
    words = json.loads(done.out)
    expect(words["holds"] and not words["broken"], words)
    expect("the hidden cases: passed" in words["held"] and "the suite: passed" in words["held"], words)
    if NVCC:
        expect(any(line.startswith("the compiled launcher gave the judged plans for ") for line in words["held"]), words)
    done = said(astra(folder, "verify", "moved/result.json"), 0)
    expect("The result holds." in done.out, done.out)
    p = load(os.path.join(run, "result.json"))["provenance"]
    expect(p["seed"] == 7 and p["hidden_seed"] == 11 and set(p["files"]) >= {"task.yaml", "kernel.cu"}, p)
    head = read(os.path.join(run, "best.cu")).split("*/")[0]
    for text in (p["best"], p["suite"], p["files"]["kernel.cu"], "hidden 11"):
        expect(text in head, head)


@rest
def every_look_is_repeated(folder):
    """What was confirmed twice is judged on the first look's hidden cases and on the second's, whose figures count."""
    run = moved(folder)
    expect(load(os.path.join(run, "result.json"))["provenance"]["looks"] == 1, "a modelled speed-up is looked at once")
    redigest(run, set_in("provenance", "looks", value=2))
    words = json.loads(astra(folder, "verify", "moved", "--json").out)
    expect("the hidden cases of an earlier look: passed" in words["held"], words)
    expect("the hidden cases: passed" in words["held"], words)


def changed(name, old, new):
    return lambda run: edit(os.path.join(run, name), old, new)


def forged(change):
    return lambda run: redigest(run, change)


def set_in(*keys, value):
    def change(result):
        at = result
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value
    return change


TAMPERED = [
    ("best.cu", changed("best.cu", "__global__", "/* mine */ __global__"), "best.cu is not the text that was judged"),
    ("header", changed("best.cu", "the original's speed", "the rival's speed"), "first comment"),
    ("diff", changed("best.diff", "+++", "+++ "), "best.diff does not lead"),
    ("source", changed("task/kernel.cu", "__global__", "/* other */ __global__"), "task/kernel.cu is not the file"),
    ("task", changed("task/task.yaml", "name:", "# other\nname:"), "task/task.yaml is not the file"),
    ("suite", changed("suite.json", '"seed": "', '"seed": "1'), "suite.json is not the suite"),
    ("no suite", lambda run: os.remove(os.path.join(run, "suite.json")), "suite.json is not there"),
    ("no source", lambda run: os.remove(os.path.join(run, "task", "kernel.cu")), "task/kernel.cu is not there"),
    ("number", changed("result.json", '"rounds": ', '"rounds": 1'), "result.json was changed"),
    ("forged speed-up", forged(set_in("speedup", "geomean", value=99.0)), "does not say what the result says"),
    ("forged time", forged(set_in("workloads", 0, "best_us", value=0.5)), "best_us of"),
    ("forged error", forged(set_in("verification", "max_error", value=0.25)), "max_error"),
    ("forged hidden cases", forged(set_in("verification", "hidden", value=900)), "hidden cases: the result says 900"),
    ("forged cases", forged(set_in("verification", "cases", value=900)), "cases of the suite: the result says 900"),
    ("forged plans", forged(set_in("verification", "confirmation", "plans", "compared", value=900)), "confirmation.plans: the result says"),
    ("forged device code", forged(set_in("verification", "confirmation", "device_code", value="other")), "confirmation.device_code: the result says"),
    ("forged outcome", forged(set_in("outcome", value="unchanged")), "best.cu"),
]


@cases([x for x in TAMPERED if NVCC or "confirmation" not in x[2]], every=8)
def tampered(folder, what):
    run = moved(folder)
    what[1](run)
    done = said(astra(folder, "verify", "moved"), 1)
    expect(what[2] in done.out and "The result does not hold." in done.out, done.out + done.err)


@case
def a_wrong_file_with_fitting_hashes(folder):
    """Everything is forged but the answers."""
    import hashlib

    run = moved(folder)
    head, body = read(os.path.join(run, "best.cu")).split("*/\n", 1)
    body = read(os.path.join(run, "task", "kernel.cu")).replace("* factor", "* (i == 77 ? 2 * factor : factor)", 1)
    expect("77" in body, body)
    old = load(os.path.join(run, "result.json"))["provenance"]["best"]
    new = hashlib.sha256(body.encode()).hexdigest()
    redigest(run, set_in("provenance", "best", value=new))
    write(os.path.join(run, "best.cu"), head.replace(old, new) + "*/\n" + body)
    original = os.path.join(run, "task", "kernel.cu")
    import subprocess

    diff = subprocess.run(["diff", "-u", "--label", "original.cu", "--label", "best.cu", original, os.path.join(run, "best.cu")],
                          capture_output=True, text=True, check=False).stdout
    write(os.path.join(run, "best.diff"), diff)
    done = said(astra(folder, "verify", "moved"), 1)
    expect("BROKEN  the suite: wrong" in done.out, done.out)


@case
def what_is_no_result(folder):
    done = said(astra(folder, "verify", "nothing"), 2)
    expect("nothing" in done.err, done.err)
    write(os.path.join(folder, "result.json"), '{"astra": "0.1.0"}')
    done = said(astra(folder, "verify", "result.json"), 2)
    expect("where it comes from" in done.err, done.err)


@rest
def other_hidden_cases_each_run(folder):
    small_task(folder)
    seeds = []
    for out in ("a", "b"):
        said(astra(folder, "optimize", "task", *ROUNDS[:4], "--out", out, "--quiet"), 0)
        seeds.append(load(os.path.join(folder, out, "result.json"))["provenance"]["hidden_seed"])
    expect(seeds[0] != seeds[1] and all(0 < x < 2**53 for x in seeds), seeds)


main()
