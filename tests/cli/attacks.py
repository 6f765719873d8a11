"""Files that attack whoever compiles or judges them: each ends as its verdict, within bounds, and the next is judged."""

import json
import os
import resource
import time

from harness import KERNEL, astra, case, cases, environment, expect, main, rest, said, small_task, write

SECRET = "/etc/passwd"


def doubling(first, step, count):
    return first + "".join(step(i) for i in range(count))


def above(text):
    return KERNEL.replace("__global__", text + "\n__global__", 1)


def within(text, above_it=""):
    return above(above_it).replace("    if (i <", "    " + text + "\n    if (i <", 1)


# What happens in a macro's expansion, a template, a constant expression, an included file, assembler, a log.
ATTACKS = [
    ("include", above(f'#include "{SECRET}"'), "compile-failed", "cannot include"),
    ("include in angles", above(f"#include <{SECRET}>"), "compile-failed", "cannot include"),
    ("include above", above('#include "../../../../../../../../etc/passwd"'), "compile-failed", "cannot include"),
    ("include above a toolkit's folder", above("#include <cuda/../../../../../../../etc/passwd>"), "compile-failed", "cannot include"),
    ("include by a macro", above(f"#define P <{SECRET}>\n#include P"), "not-understood", "whose name a macro makes"),
    ("include spliced", above(f'#inc\\\nlude "{SECRET}"'), "not-understood", "a backslash joins"),
    ("include by a digraph", above(f'%:include "{SECRET}"'), "not-understood", ""),
    ("include itself", above('#include "kernel.cu"'), "compile-failed", "cannot include"),
    ("embed", above(f'__device__ char e[] = {{\n#embed "{SECRET}"\n}};'), "not-understood", "embed"),
    ("probe", above(f'#if __has_include("{SECRET}")\n__device__ int there;\n#endif'), "cheat", "__has_include"),
    ("incbin", within(f'asm volatile(".incbin \\"{SECRET}\\";");'), "compile-failed", ".incbin"),
    ("assembler's include", within(f'asm volatile(".include \\"{SECRET}\\"");'), "compile-failed", ".include"),
    ("assembler's file", within(f'asm volatile(".file 7 \\"{SECRET}\\"");'), "compile-failed", ".file"),
    ("macro bomb", above(doubling("#define A0 x\n", lambda i: f"#define A{i + 1} A{i} A{i}\n", 40) + "int A40;"),
     "not-understood", "expand to more than"),
    ("log of 100 MB by macros", above(doubling('#define A0 _Pragma("message(\\"aaaaaaaaaaaaaaaaaaaa\\")")\n',
                                               lambda i: f"#define A{i + 1} A{i} A{i}\n", 22) + "A22"), "not-understood", "expand"),
    ("log of a name of 100 MB", above(doubling("template <class A, class B> struct P {};\nusing T0 = P<int, int>;\n",
                                               lambda i: f"using T{i + 1} = P<T{i}, T{i}>;\n", 24) +
                                      "__device__ int f() { return T24(); }"), "compile-failed", "P<"),
    ("log of errors", above("\n".join(f"unknown{i} x{i};" for i in range(4000))), "compile-failed", "unknown"),
    ("endless templates", above("template <int N> struct T { static const int v = T<N + 1>::v; };\n__device__ int z = T<0>::v;"),
     "compile-failed", "recursion"),
    ("exponential templates", above("template <int N, class A, class B> struct T { T<N - 1, T<N, A, B>, int> a; T<N - 1, int, T<N, A, B>> b; };\n"
                                    "template <class A, class B> struct T<0, A, B> {};\n__device__ T<40, int, long> z;"),
     "crashed", "MB of memory"),
    ("endless constant", above("constexpr int f(int n) { while (true) n ^= 1; return n; }\nconstexpr int z = f(3);"),
     "compile-failed", "constant"),
    ("exponential constant", above("constexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstexpr long z = f(60);"),
     "compile-failed", "constant"),
    ("deep brackets", above("__device__ int z = " + "(" * 100000 + "1" + ")" * 100000 + ";"), "not-understood", "256 levels"),
    ("a million words", above("__device__ void f(float w) {\n" + "w = w * 2;\n" * 90000 + "}"), "not-understood", "words"),
    ("an array of a terabyte", above("__device__ char z[1ull << 40];"), "unsupported", "array"),
    ("printf without end", within('for (;;) printf("%d aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n", i);', "#include <cstdio>"),
     "hung", "endless"),
    ("nothing but a byte", "\x01", "not-understood", ""),
]


@cases(ATTACKS, every=4, later="printf")
def attack(folder, row):
    """In bounded time and memory, with nothing said of a file's contents and nothing left behind in TMPDIR."""
    name, text, verdict, words = row
    small_task(folder)
    write(os.path.join(folder, "bad.cu"), text)
    temporary = os.path.join(folder, "tmp")
    os.mkdir(temporary)
    began = time.monotonic()
    done = said(astra(folder, "bench", "task", "bad.cu", "--device", "sim", "--json", env=environment(TMPDIR=temporary)), 0)
    result = json.loads(done.out)
    expect((result["verdict"], words in result["words"]) == (verdict, True), f"{name}: {result['verdict']}: {result['words'][:400]}")
    expect("root:" not in done.out + done.err, "a file's contents are in what was said")
    expect(len(done.out) < 20000 and len(done.err) < 20000, f"{len(done.out)} and {len(done.err)} bytes of output")
    expect(not os.listdir(temporary), f"left behind: {os.listdir(temporary)}")
    expect(time.monotonic() - began < 120, "longer than two minutes")
    kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    expect(kib < 5 << 20, f"{kib} KiB resident")


@rest
def honest_after_an_attack(folder):
    """A worker that was killed is replaced: a run goes on after it."""
    small_task(folder)
    bomb = dict((x[0], x[1]) for x in ATTACKS)["exponential templates"]
    write(os.path.join(folder, "bad.cu"), bomb)
    write(os.path.join(folder, "good.cu"), KERNEL)
    for name, verdict in (("bad.cu", "crashed"), ("good.cu", "slower")):
        done = said(astra(folder, "bench", "task", name, "--device", "sim", "--json"), 0)
        expect(json.loads(done.out)["verdict"] == verdict, done.out)


@case
def what_is_off_is_said(folder):
    small_task(folder)
    write(os.path.join(folder, "same.cu"), KERNEL)
    for off in (None, "off"):
        done = said(astra(folder, "bench", "task", "same.cu", "--device", "sim", "--json", env=environment(ASTRA_SANDBOX=off)), 0)
        missing = json.loads(done.out)["verification"]["missing"] or ""
        expect(("ASTRA_SANDBOX=off" in missing) == bool(off), missing)
        done = said(astra(folder, "doctor", "--json", env=environment(ASTRA_SANDBOX=off)), 0)
        expect(json.loads(done.out)["sandbox"] == (not off), done.out)


main()
