"""Broken tasks: each ends in one message with file, line and column where there is one, and status 2."""

import json
import os
import re

from harness import KERNEL, ROOT, TASK, astra, case, cases, environment, expect, main, read, rest, said, small_task, write


@case
def sound(folder):
    done = said(astra(folder, "check", small_task(folder)), 0)
    expect("sound" in done.out, done.out)


@case
def nvcc_asks_for_a_flag(folder):
    """NVRTC takes a host's constexpr function on the device; nvcc, which makes what is shipped, asks for a flag."""
    kernel = KERNEL.replace("#include <cuda_fp16.h>", "#include <cuda_fp16.h>\nconstexpr float plus(float x) { return x; }", 1)
    kernel = re.sub(r"(\n__global__[^{]*\{)", r"\1\n    const float offset = plus(threadIdx.x * 0.0f);\n    (void)offset;", kernel, 1)
    expect("offset" in kernel, kernel)
    said(astra(folder, "check", small_task(folder, kernel=kernel)), 2, r"kernel\.cu:\d+: the original: nvcc refuses it.*flags: \[--expt-relaxed-constexpr\]")
    said(astra(folder, "check", small_task(folder, TASK.replace("dims:", "flags: [--expt-relaxed-constexpr]\ndims:", 1), kernel)), 0)


@cases([("never", ""), ("beyond the domain", "    if (rows > 1000000)\n        ")])
def launches_nothing(folder, row):
    """What comes out is what was there; no suite could tell that from an answer."""
    launch = KERNEL[KERNEL.index("    scale_rows_kernel<<<"):]
    kernel = KERNEL.replace(launch, row[1] + launch.strip("} \n").strip() + "\n}\n" if row[1] else "}\n")
    task = TASK.replace("role: out", "role: inout", 1)
    said(astra(folder, "check", small_task(folder, task, kernel)), 2, "launches no kernel on any of the suite's")


@case
def folder_missing(folder):
    said(astra(folder, "check", "nowhere"), 2, "nowhere")


@case
def folder_is_a_file(folder):
    said(astra(folder, "check", write(os.path.join(folder, "file"), "x")), 2, "file")


@case
def task_yaml_missing(folder):
    os.mkdir(os.path.join(folder, "task"))
    said(astra(folder, "check", "task"), 2, r"task\.yaml")


@case
def task_yaml_is_a_folder(folder):
    os.makedirs(os.path.join(folder, "task", "task.yaml"))
    done = astra(folder, "check", "task")
    said(done, done.returncode if done.returncode in (1, 2) else 2, r"task\.yaml")


AT = r"task\.yaml:%d:\d+: "


def replaced(old, new):
    expect(old in TASK, old)
    return TASK.replace(old, new)


@cases([
    ("empty", "", r"task\.yaml"),
    ("a word", "hello\n", r"task\.yaml:1:"),
    ("a list", "- a\n- b\n", r"task\.yaml:1:"),
    ("bytes", b"\x00\xff\xfe\x01 \x80", r"task\.yaml"),
    ("not closed", TASK.replace("{name: d,", "{{name: d,"), r"task\.yaml:\d+:\d+: "),
    ("a tab", TASK.replace("  - [64, 512]", "\t- [64, 512]"), r"task\.yaml:13:1: .*a tab, where YAML takes spaces"),
    ("an alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\nname: *b\n", r"task\.yaml:\d+:\d+: "),
    ("very deep", "name: " + "[" * 20000 + "\n", r"task\.yaml"),
    ("two documents", TASK + "---\nname: again\n", r"task\.yaml:\d+:"),
])
def not_a_task(folder, row):
    said(astra(folder, "check", small_task(folder, row[1])), 2, row[2])


@cases([
    ("unknown key", "dims: [rows, d]", "dimms: [rows, d]", AT % 10 + ".*dimms.*did you mean.*dims"),
    ("unknown key of an argument", "role: in}", "roel: in}", AT % 6 + ".*roel.*role"),
    ("key twice", "entry: scale_rows", "entry: scale_rows\nentry: scale_rows", AT % 4 + ".*entry"),
    ("unknown type", "type: i32, value: d", "type: i33, value: d", AT % 8 + ".*i33"),
    ("unknown role", "role: out", "role: output", AT % 5 + ".*output"),
    ("unknown dim in a shape", "shape: [rows, d], role: in", "shape: [rows, dd], role: in", AT % 6 + ".*dd"),
    ("unknown dim in a value", "value: rows}", "value: rosw}", AT % 7 + ".*rosw"),
    ("expression not closed", "shape: [rows, d], role: in", "shape: [rows, (d], role: in", AT % 6),
    ("workload too short", "  - [64, 512]", "  - [64]", AT % 13),
    ("workload too long", "  - [64, 512]", "  - [64, 512, 1]", AT % 13),
    ("workload not whole", "  - [64, 512]", "  - [64, 51.2]", AT % 13),
    ("workload outside the domain", "  - [64, 512]", "  - [64, 0]", AT % 13 + ".*(domain|d >= 1)"),
    ("2^40 elements", "rows <= 4096, d >= 1, d <= 4096]\nworkloads:\n  - [64, 512]",
     "d >= 1]\nworkloads:\n  - [1048576, 1048576]", r"task\.yaml:\d+:\d+: "),
    ("dims that overflow", "rows <= 4096, d >= 1, d <= 4096]\nworkloads:\n  - [64, 512]",
     "d >= 1]\nworkloads:\n  - [9223372036854775807, 3]", r"task\.yaml:\d+:\d+: "),
    ("no workloads", "  - [64, 512]\n  - [256, 1024]\n", "", r"task\.yaml.*workloads"),
    ("no arguments", TASK[TASK.index("args:"):TASK.index("dims:")], "args: []\n", r"task\.yaml"),
    ("no source", "source: kernel.cu\n", "", r"task\.yaml.*source"),
    ("no entry", "entry: scale_rows\n", "", r"task\.yaml.*entry"),
    ("a type of C", "type: i32, value: d", "type: int, value: d", AT % 8 + ".*unknown type int: did you mean i32"),
    ("a type of CUDA", "type: f16, shape: [rows, d], role: out", "type: half, shape: [rows, d], role: out",
     "unknown type half: did you mean f16"),
    ("which condition", "  - [64, 512]", "  - [5000, 512]", "rows <= 4096 does not hold"),
    ("scalar with values and value", "value: 0.5}", "value: 0.5, values: [0.5, 1]}", "not both"),
    ("scalar with a value twice", "value: 0.5}", "values: [0.5, 0.5]}", "named twice"),
    ("values of an integer", "type: i32, value: d", "type: i32, values: [1, 2]", "floating types"),
    ("source not there", "source: kernel.cu", "source: colonel.cu", r"colonel\.cu"),
    ("reference not there", "entry:", "reference: nothing.cu\nentry:", r"nothing\.cu"),
    ("entry not there", "entry: scale_rows", "entry: scale_row",
     r"task\.yaml:3:8: entry: there is no scale_row in kernel.cu; did you mean scale_rows"),
    ("regime", "dims:", "regime: warm\ndims:", AT % 10 + ".*warm.*(cold|hot)"),
    ("value generator", "role: in}", "role: in, values: {kind: gaussian}}", AT % 6 + ".*gaussian"),
    ("argument left out", "  - {name: factor, type: f32, value: 0.5}\n", "", "scale_rows|factor"),
    ("argument of another type", "type: f32, value: 0.5", "type: i32, value: 1", "factor"),
    ("argument of another element", "{name: in,     type: f16", "{name: in,     type: f32", r"\bin\b"),
    ("compile flag", "dims:", "flags: [--no-such-flag]\ndims:", "no-such-flag"),
])
def broken(folder, row):
    done = said(astra(folder, "check", small_task(folder, replaced(row[1], row[2]))), 2, row[3])
    expect(not done.out, done.out)


@case
def all_faults_at_once(folder):
    """Each with its place, its line and a caret; what a misspelt key was meant to say is not called missing."""
    text = TASK.replace("type: i32, value: d", "type: int, value: d").replace("value: rows}", "value: rosw}")
    text = text.replace("entry: scale_rows", "enrty: scale_rows")
    done = said(astra(folder, "check", small_task(folder, text)), 2)
    places = re.findall(r"task\.yaml:(\d+):\d+: ", done.err)
    expect(places == ["3", "7", "8"], done.err)
    expect(done.err.count("^") == 3 and "missing" not in done.err, done.err)


@case
def check_says_what_to_do(folder):
    """A fault that the suite does not notice has its place, its line and a remedy."""
    kernel = KERNEL.replace("    int i =", "    if (rows > 4000 && d == 3) return;\n    int i =")
    done = said(astra(folder, "check", small_task(folder, kernel=kernel), env=nothing_known(folder)), 0)
    expect("The task is sound: " in done.out and "misses" in done.out, done.out)
    expect(re.search(r"not noticed, kernel\.cu:\d+:\d+: `.*\n +if \(rows > 4000.*\n +\^\n", done.out), done.out)
    expect("equivalent: [" in done.out and "Write a reference.cu" in done.out, done.out)


@case
def a_scalar_of_several_values(folder):
    """Each is met by the suite: what holds for one alone is wrong."""
    path = small_task(folder, replaced("value: 0.5}", "values: [0.5, 0.25, 3]}"))
    said(astra(folder, "check", path, "--mutants", "0"), 0)
    for only in ("factor > 1.0f ? 1.0f : factor", "factor < 0.3f ? 0.0f : factor"):
        write(os.path.join(folder, "one.cu"), KERNEL.replace("* factor", f"* ({only})"))
        told = json.loads(said(astra(folder, "bench", path, "one.cu", "--json"), 0).out)
        expect(told["verdict"] == "wrong" and "factor = " in told["words"], told["words"])


@cases([
    ("a bracket left open", "* factor);", "* factor;", r"kernel\.cu:7:31: .*never closed|kernel\.cu:7:\d+: .*not closed"),
    ("a brace too many", "* factor);", "* factor);}", r"kernel\.cu:8: .*expected a declaration"),
    ("a syntax error", "* factor);", "* * / factor);", r"kernel\.cu:7: .*expected"),
    ("an unknown name", "* factor);", "* facter);", r"kernel\.cu:7\b.*facter"),
    ("an unknown header", "#include <cuda_fp16.h>", "#include <no_such_header.h>", r"kernel\.cu:1\b.*no_such_header"),
    ("a launcher that allocates", "int n = rows * d;", "int *n = new int[3];", r"kernel\.cu:1\d:\d+"),
    ("a launcher that prints", "int n = rows * d;", "int n = rows * d; printf(\"%d\", n);", r"kernel\.cu:1\d:\d+.*printf"),
    ("a launcher that loops for ever", "int n = rows * d;", "int n = rows * d; while (1) n++;", r"kernel\.cu:1\d:\d+"),
    ("a launcher that divides by zero", "(n + 127) / 128", "(n + 127) / (d - d)", r"kernel\.cu:1\d:\d+"),
    ("a kernel that is not there", "scale_rows_kernel<<<", "scale_rws_kernel<<<", r"kernel\.cu:1\d:\d+.*scale_rws_kernel"),
    ("too many threads", "128, 0, stream", "2048, 0, stream", "launch|1024|2048"),
])
def original_not_understood(folder, row):
    expect(row[1] in KERNEL, row[1])
    said(astra(folder, "check", small_task(folder, kernel=KERNEL.replace(row[1], row[2]))), 2, row[3])


@case
def original_out_of_bounds(folder):
    said(astra(folder, "check", small_task(folder, kernel=KERNEL.replace("i < rows * d", "i <= rows * d"))), 2,
         r"kernel\.cu:7: ", "past the end")


@case
def original_does_not_write_all(folder):
    kernel = KERNEL.replace("i < rows * d", "i < rows * d - 1")
    done = astra(folder, "check", small_task(folder, kernel=kernel))
    said(done, 2, "written|wrote|poison|element")


@case
def original_is_binary(folder):
    said(astra(folder, "check", small_task(folder, kernel=bytes(range(256)) * 40)), 2, r"kernel\.cu|scale_rows")


@case
def original_is_empty(folder):
    said(astra(folder, "check", small_task(folder, kernel="")), 2, "scale_rows")


# The exponent of what was rounded before, in its bits: a shadow does not survive that.
BITS = KERNEL.replace("__half2float(in[i]) * factor", "__int_as_float(__float_as_int(__half2float(in[i]) * 1.1f) + (1 << 23)) * factor")
ASKS = r"\d\d\.\d % of the exact answers could not be derived: write a reference\.cu in double"


@rest
def what_cannot_be_derived_asks_for_a_reference(folder):
    path = small_task(folder, kernel=BITS)
    for words in (["check", path, "--mutants", "0"], ["bench", path],
                  ["optimize", path, "--rounds", "1", "--out", "run"]):
        done = said(astra(folder, *words), 0)
        expect(re.search(ASKS, done.out), done.out)
    verification = json.loads(read(os.path.join(folder, "run", "result.json")))["verification"]
    expect(verification["exact"] == "shadow" and verification["shadow_lost"] > 0.01, verification)


@case
def errors_are_shown(folder):
    path = small_task(folder)
    done = said(astra(folder, "check", path, "--mutants", "0"), 0)
    expect("errors in ulps" in done.out and "allowed" in done.out and "share of elements" in done.out, done.out)
    told = json.loads(said(astra(folder, "bench", path, os.path.join(path, "kernel.cu"), "--json"), 0).out)
    told = told["verification"]
    rows = [x for x in told["errors"] if x["values"] == "as the task says"]
    expect(len(rows) == 1 and rows[0]["output"] == "out" and rows[0]["unit"] == "ulp", told)
    expect(told["ulp_edges"] == [0, 0.5, 1, 2, 4, 8, 16], told)
    for side in ("original", "candidate"):
        counts = rows[0][side]["histogram"]
        expect(len(counts) == 8 and sum(counts) > 1000 and not any(counts[2:]), counts)
    expect(rows[0]["allowed"]["max"] == 2 and 0.1 < rows[0]["allowed"]["drift"] < 0.2, rows)


@case
def bench_file_missing(folder):
    said(astra(folder, "bench", small_task(folder), "nothing.cu"), 2, r"nothing\.cu")


@case
def every_verb_says_the_same(folder):
    path = small_task(folder, TASK.replace("type: i32, value: d", "type: i33, value: d"))
    for verb in ("check", "bench", "profile", "optimize"):
        said(astra(folder, verb, path), 2, AT % 8 + ".*i33")
    expect(not os.path.exists(os.path.join(folder, "astra-runs")), "a broken task left a run behind")


def nothing_known(folder):
    """Mutants that another build has judged are judged again."""
    return environment(XDG_CACHE_HOME=os.path.join(folder, "cache"))


@rest
def a_fault_that_compiles_to_the_same_is_no_fault(folder):
    """What is computed and not used is not in the code: to change it changes nothing, and is not counted."""
    def mutation(name, kernel):
        path = small_task(os.path.join(folder, name), kernel=kernel)
        return json.loads(said(astra(folder, "check", path, "--mutants", "300", "--json", env=nothing_known(folder)), 0).out)["mutation"]

    plain = mutation("plain", KERNEL)
    more = mutation("unused", KERNEL.replace("    int i =", "    bool few = rows - d < 5;\n    int i ="))
    expect(more["judged"] > plain["judged"], f"no fault in the line that was added: {more}")
    expect(more["survived"] == plain["survived"] and more["equivalent"] > plain["equivalent"], f"{plain}\n{more}")


EXAMPLES = os.path.join(ROOT, "examples")


@cases([name for name in sorted(os.listdir(EXAMPLES)) if os.path.exists(os.path.join(EXAMPLES, name, "task.yaml"))], every=5, later="fused")
def example_is_sound(folder, name):
    done = said(astra(folder, "check", os.path.join(EXAMPLES, name), "--mutants", "8", env=nothing_known(folder)), 0)
    expect("faults put in" in done.out, f"no faults put in: {done.out}")


main()
