#!/usr/bin/env python3
"""The launcher's interpreter against g++: launchers made from a seed are compiled with g++ against a runtime that only
records, and interpreted; both must launch the same kernels with the same grids and the same bytes as arguments. What
the interpreter refuses is counted apart, and apart from that what C++ leaves undefined.

    differential.py PLANS [--seed N] [--count N | --seconds N] [--kind KIND]... [--most-refused PERCENT] [--show]

PLANS is build/tests/plans. A difference is printed with its file, which is kept; the exit status is then 1."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

RUNTIME = r"""
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cmath>
#include <math.h>
#include <algorithm>
#include <initializer_list>
#define __global__ static
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
typedef struct recorded_stream *cudaStream_t;
template <typename T> static void recorded_bytes(const T &v)
{
    unsigned char b[sizeof(T)];
    T known = v;
    __builtin_clear_padding(&known); // what it holds is nobody's
    memcpy(b, &known, sizeof(T));
    printf(" ");
    for (size_t i = 0; i < sizeof(T); i++)
        printf("%02x", b[i]);
}
template <typename... P> struct recorded {
    const char *name;
    dim3 grid, block;
    size_t shared;
    void operator()(P... args) const
    {
        printf(" %s %u,%u,%u %u,%u,%u %zu", name, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
        (void)(int[]){0, (recorded_bytes(args), 0)...};
        printf(";");
    }
};
template <typename... P>
static recorded<P...> recorded_launch(const char *name, void (*)(P...), dim3 g, dim3 b, size_t s, cudaStream_t)
{
    return {name, g, b, s};
}
static sigjmp_buf recorded_jump;
static void recorded_signal(int) { siglongjmp(recorded_jump, 1); }
"""

INTS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
        "long long", "unsigned long long", "bool"]
FLOATS = ["float", "double"]


class Launcher:
    """One file: its text with <<< >>>, and as plain C++."""

    def __init__(self, seed, kind):
        self.r = random.Random("%s %s" % (kind, seed))
        self.kind = kind
        self.id = "%s_%s" % (kind, seed)
        self.top, self.body, self.kernels = [], [], []
        self.names = 0
        self.vars = [("a", "int"), ("b", "int"), ("c", "int")]
        getattr(self, "make_" + kind)()

    def name(self, stem="v"):
        self.names += 1
        return "%s%d" % (stem, self.names)

    def launch(self, args, grid="1", block="32", shared="0"):
        """A kernel of its own for these (type, expression) pairs."""
        k = "k%d" % len(self.kernels)
        self.kernels.append("__global__ void %s(%s)\n{\n}\n" % (k, ", ".join("%s p%d" % (t, i) for i, (t, _) in enumerate(args))))
        self.body.append("@%s@%s, %s, %s, stream@%s@" % (k, grid, block, shared, ", ".join(e for _, e in args)))

    def text(self, cxx):
        text = ("\n".join(self.top) + "\n" + "".join(self.kernels) +
                '\nextern "C" void go(int a, int b, int c, cudaStream_t stream)\n{\n' +
                "".join("    %s\n" % line for line in self.body) + "}\n")
        if getattr(self, "disturb", False):
            text = self.disturbed(text)
        launch = r'recorded_launch("\1", \1, \2)(\3);' if cxx else r"\1<<<\2>>>(\3);"
        text = re.sub(r"@(\w+)@(.*?)@(.*?)@", launch, text, flags=re.S)
        # Outside of every namespace is in the launcher's own there.
        return re.sub(r"(?<![\w>:])::(?=\w)", "N_%s::" % self.id, text) if cxx else text

    # ---- expressions

    def literal(self):
        r = self.r
        return r.choice([
            str(r.randrange(0, 20)), str(r.randrange(0, 2 ** 31)), "%du" % r.randrange(0, 50), "0x%x" % r.randrange(0, 2 ** 33),
            "%dl" % r.randrange(0, 9), "%dull" % r.randrange(0, 2 ** 40), "0%o" % r.randrange(0, 64), "0b%d" % r.choice([1, 10, 101]),
            "'%s'" % r.choice("azAZ09 "), r.choice(["true", "false"]), "1'000", "0xffffffff", "2147483648", "'\\n'"])

    def real(self):
        r = self.r
        return r.choice(["%.*g" % (r.randrange(1, 18), r.uniform(0, 9)), "%sf" % repr(r.uniform(0, 3)), "%de-%d" % (r.randrange(1, 9), r.randrange(3)),
                         "0x1.8p3", ".5", "%d." % r.randrange(9), "1e%df" % r.randrange(0, 12)]).replace("e-0", "e0")

    def real_literal(self):
        t = self.real()
        return t if re.search(r"[.ep]", t) else t + ".0"

    def integer(self, depth):
        r = self.r
        if depth <= 0:
            ints = [n for n, t in self.vars if t not in FLOATS]
            return r.choice(ints) if ints and r.random() < .7 else self.literal()
        e = lambda: self.integer(depth - r.randrange(1, 3))
        what = r.randrange(15)
        if what < 5:
            return "(%s %s %s)" % (e(), r.choice("+-*&|^"), e())
        if what == 5:
            return "(%s %s %s)" % (e(), r.choice("/%"), e())
        if what == 6:
            return "(%s %s %s)" % (e(), r.choice(["<<", ">>"]), r.choice(["1", "3u", "(a & 7)", "'\\2'" if 0 else "2ll"]))
        if what == 7:
            return "(%s %s %s)" % (e(), r.choice(["<", "<=", ">", ">=", "==", "!="]), self.number(depth - 1))
        if what == 8:
            return "(%s ? %s : %s)" % (e(), e(), e())
        if what == 9:
            return "%s%s" % (r.choice(["-", "+", "~", "!"]), "(%s)" % e())
        if what == 10:
            return "(%s)(%s)" % (r.choice(INTS), self.number(depth - 1))
        if what == 11:
            return "static_cast<%s>(%s)" % (r.choice(INTS), e())
        if what == 12:
            return "(int)sizeof(%s)" % r.choice([e(), self.number(depth - 1), r.choice(INTS), '"abc"', r.choice(FLOATS)])
        if what == 13:
            return "(%s %s %s)" % (e(), r.choice(["&&", "||"]), e())
        return "(%s, %s)" % (e(), e())

    def number(self, depth):
        r = self.r
        if r.random() < .6:
            return self.integer(depth)
        if depth <= 0:
            floats = [n for n, t in self.vars if t in FLOATS]
            return r.choice(floats) if floats and r.random() < .6 else self.real_literal()
        e = lambda: self.number(depth - 1)
        what = r.randrange(6)
        if what < 3:
            return "(%s %s %s)" % (e(), r.choice("+-*/"), e())
        if what == 3:
            return "(%s)(%s)" % (r.choice(FLOATS), e())
        if what == 4:
            return "(%s ? %s : %s)" % (self.integer(depth - 1), e(), e())
        if r.random() < .4:
            return "std::%s(%s(%s), %s(%s))" % (r.choice(["pow", "min", "max", "fmin", "fmax"]), *([r.choice(FLOATS), e()] * 2))
        if r.random() < .3:
            return "std::%s(%s(%s))" % (r.choice(["exp", "log", "sqrt", "round", "ceil", "tanh", "abs", "log2", "cos"]), r.choice(FLOATS), e())
        return "%s((float)(%s))" % (r.choice(["expf", "exp2f", "logf", "tanhf", "sqrtf", "floorf", "log2f", "sinf"]), e())

    def declare(self, depth=2):
        t = self.r.choice(INTS + FLOATS)
        n = self.name()
        value = self.number(depth) if t in FLOATS else self.integer(depth)
        self.body.append("%s%s %s = %s;" % (self.r.choice(["", "", "const "]), t, n, value))
        if not self.body[-1].startswith("const"):
            self.vars.append((n, t))
        else:
            self.consts = getattr(self, "consts", []) + [n]
        return n

    def launch_all(self):
        self.launch([(t, n) for n, t in self.vars[3:11]] or [("int", "a")], "a & 1 ? 3 : 4", "(b & 3) + 1")

    # ---- kinds

    def make_types(self):
        for _ in range(self.r.randrange(3, 9)):
            self.declare()
        for _ in range(self.r.randrange(0, 4)):
            n, t = self.r.choice(self.vars)
            op = self.r.choice(["+=", "-=", "*=", "="] + ([] if t in FLOATS else ["&=", "|=", "^=", "<<="]))
            self.body.append("%s %s %s;" % (n, op, "1" if op == "<<=" else self.integer(1)))
        self.launch_all()
        self.launch([(self.r.choice(INTS + FLOATS), self.integer(2)) for _ in range(3)])

    def make_enums(self):
        r = self.r
        for _ in range(r.randrange(1, 4)):
            e = self.name("E")
            under = r.choice(["", "", " : " + r.choice(INTS[:11])])
            items = []
            for _ in range(r.randrange(1, 4)):
                n = self.name("M")
                items.append(n + r.choice(["", " = %d" % r.randrange(-3, 90) if "unsigned" not in under else " = %d" % r.randrange(90),
                                           "" if under else " = 0xffffffff", "" if under else " = 1ll << 40", " = 'c'"]))
                self.consts = getattr(self, "consts", []) + [n]
            self.top.append("enum %s%s { %s };" % (e, under, ", ".join(items)))
            v = self.name()
            self.body.append("%s %s = %s;" % (e, v, r.choice(items).split(" ")[0]))
            self.consts.append(v)
            self.body.append("unsigned long %s_size = sizeof(%s);" % (v, e))
            self.vars.append((v + "_size", "unsigned long"))
        if r.random() < .5:
            under = r.choice(["", "", " : " + r.choice(INTS[:11])])
            own = [self.name("M") for _ in range(r.randrange(1, 4))]
            self.body.append("enum%s { %s };" % (under, ", ".join(n + r.choice(["", " = %d" % r.randrange(90)]) for n in own)))
            self.consts += own
        for _ in range(4):
            m = r.choice(self.consts)
            self.launch([("long", "%s %s %s" % (m, r.choice("+-*"), self.integer(1))), ("bool", "%s > %s" % (m, self.integer(1))),
                         ("double", "-%s" % m), ("int", "sizeof(+%s)" % m), ("long", "a ? %s : %s" % (m, self.integer(0)))])

    def make_macros(self):
        r, tag = self.r, "_%s" % self.id
        simple = []
        for _ in range(r.randrange(2, 6)):
            n = self.name("X") + tag
            self.top.append("#define %s %s" % (n, r.choice([self.literal(), "(%s)" % self.literal(), "%s + %s" % (r.choice(simple) if simple else "2", self.literal()),
                                                          "\\\n    %s" % self.literal(), "/* c */ %s // d" % self.literal()])))
            simple.append(n)
        calls = []
        for _ in range(r.randrange(2, 6)):
            n = self.name("F") + tag
            body = r.choice(["x + y", "(x) * (y)", "x##y", "(int)sizeof(#x #y)", "((x) < (y) ? (x) : (y))", "-x - -y", "x y"])
            self.top.append("#define %s(x, y) %s" % (n, body))
            calls.append((n, body))
        vn = self.name("V") + tag
        self.top.append("#define %s(f, ...) f(__VA_ARGS__)" % vn)
        first = self.name("N") + tag
        self.top.append("#define %s(x, ...) x, ##__VA_ARGS__" % first)
        for _ in range(r.randrange(2, 5)):
            n = self.name("C") + tag
            one = lambda: r.choice([r.choice(simple), str(r.randrange(0, 9)), "-1", "%du" % r.randrange(3), "defined(%s)" % r.choice(simple + ["NOTHING" + tag]),
                                    "0x7fffffffffffffff", "'a'", "true", "NOTHING" + tag])
            cond = " ".join([one()] + ["%s %s" % (r.choice(["+", "-", "*", "<", ">", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<", "/", "%"]), one())
                                       for _ in range(r.randrange(0, 4))])
            if r.random() < .3:
                cond = "!(%s)" % cond
            if r.random() < .2:
                cond = "%s ? %s : %s" % (cond, one(), one())
            self.top += ["#if " + cond, "#define %s 1" % n, r.choice(["#else", "#elif " + one() + "\n#define %s 3\n#else" % n]), "#define %s 2" % n, "#endif"]
            simple.append(n)
            if r.random() < .3:
                self.top += ["#undef " + r.choice(simple[:1]), "#define %s %d" % (simple[0], r.randrange(50))]
        for _ in range(r.randrange(2, 6)):
            n, body = r.choice(calls)
            arg = lambda: r.choice([r.choice(simple), str(r.randrange(1, 9)), "a", "(b + 1)", "(a, b)"])
            if "##" in body:
                left, right = r.choice([("1", "2"), ("a", ""), ("0x", "ff"), ("", "b"), ("1", "u")])
                e = "%s(%s, %s)" % (n, left, right)
            elif body == "x y":
                e = "%s(%s, %s)" % (n, r.choice(["-", "+", "~", "(long)"]), arg())
            else:
                e = r.choice(["%s(%s, %s)", "%s(%s,\n %s)"]) % (n, arg(), arg())
                if r.random() < .3:
                    e = "%s(%s, %s, %s)" % (vn, n, arg(), arg())
            self.launch([("long", e), ("int", "(%s)" % r.choice(simple)), (r.choice(INTS), r.choice(simple))], "%s((a & 3) + 1)" % first)

    def make_overloads(self):
        r = self.r
        funcs = []
        for s in range(r.randrange(1, 4)):
            f = self.name("f")
            for i in range(r.randrange(1, 5)):
                params = r.choice([1, 1, 2])
                types = [r.choice(["char", "short", "int", "unsigned", "long", "unsigned long", "float", "double", "bool", "const int &", "T", "const T &"])
                         for _ in range(params)]
                template = "template <typename T> " if any("T" in t for t in types) else ""
                default = r.choice(["", "", " = 3"]) if params == 2 and "T" not in types[1] else ""
                ps = ", ".join("%s p%d%s" % (t, k, default if k == 1 else "") for k, t in enumerate(types))
                self.top.append("%sstatic %s %s(%s)\n{\n    return (int)sizeof(p0) * 100 + %d%s;\n}" %
                                (template, r.choice(["int", "int", "long", "unsigned"]), f, ps, i, " + (int)p1" if params == 2 else ""))
                if r.random() < .2:
                    self.top.append("static int %s_early%d(int n)\n{\n    return (int)%s(n);\n}" % (f, i, f))
                    funcs.append("%s_early%d(a)" % (f, i))
            funcs.append(f)
        for _ in range(2):
            self.declare(0)
        for _ in range(1):
            f = r.choice(funcs)
            arg = lambda: r.choice([n for n, _ in self.vars] + ["1", "2u", "3l", "4.0", "5.0f", "'c'", "true", "(short)6", "a < b", "7ul"])
            e = f if "(" in f else "%s(%s)" % (f, ", ".join(arg() for _ in range(r.choice([1, 1, 2]))))
            self.launch([("int", e), ("int", "(int)sizeof(%s)" % e), ("long", "a ? %s : 1u" % e)])

    def make_namespaces(self):
        r = self.r
        spaces = ["", "A::", "A::B::", "C::"]
        made = []

        def item(space):
            n = r.choice(["X", "Y", "Z"])
            what = r.randrange(3)
            if (space, n) in made:
                return ""
            made.append((space, n))
            use = r.choice(["", " + %s%s" % (r.choice(["", "", "A::", "::"]), r.choice(["X", "Y", "Z"]))]) if r.random() < .5 else ""
            if what:
                return "constexpr int %s = %d%s;" % (n, r.randrange(100), use)
            return "enum { %s = %d };" % (n, r.randrange(100))

        def func(space):
            return "static int %s()\n{\n    return %d + %s%s;\n}" % (self.name("g"), r.randrange(9), r.choice(["", "", "", "A::", "::"]), r.choice("XYZ"))
        for n in "XYZ":
            self.top.append("constexpr int %s = %d;" % (n, r.randrange(100)))
            made.append(("", n))
        calls = []
        for _ in range(r.randrange(2, 5)):
            space = r.choice(spaces[1:4])
            parts = [p for p in space.split("::") if p]
            lines = [item(space) for _ in range(r.randrange(1, 4))]
            if r.random() < .7:
                lines.append(func(space))
                calls.append(space + re.search(r"int (\w+)\(", lines[-1])[1] + "()")
            if r.random() < .2:
                lines.append("using namespace %s;" % r.choice(["A", "C"]))
            open_ = r.choice(["namespace %s\n{" % "::".join(parts), " ".join("namespace %s {" % p for p in parts)])
            self.top.append(open_ + "\n" + "\n".join(l for l in lines if l) + "\n" + "}" * open_.count("{"))
            if r.random() < .2:
                n = self.name("alias")
                self.top.append("namespace %s = %s;" % (n, "::".join(parts)))
                spaces.append(n + "::")
        if r.random() < .3:
            self.top.append("using A::%s;" % r.choice("XYZ") if r.random() < .3 else "using namespace C;")
        known = ["::%s" % n for n in "XYZ"] + list("XYZ") + [space + n for space, n in made]
        self.launch([("int", r.choice(known)) for _ in range(3)] + [("int", r.choice(calls) if calls else "a")])

    def make_order(self):
        r = self.r
        self.top.append("static int bump(int &i)\n{\n    return ++i;\n}\nstatic int twice(int i)\n{\n    return 2 * i;\n}\nstatic int pair(int x, int y)\n{\n    return x * 100 + y;\n}")
        self.body.append("int v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, i = a & 3, j = b & 3;")
        one = lambda: r.choice(["i", "j", "i++", "++j", "bump(i)", "bump(j)", "twice(i)", "v[i & 7]", "v[j++ & 7]", "(i = 2)", "(j += 1)", "a", "3",
                                "(i, j)", "(i ? bump(j) : i++)", "(i && bump(j))", "pair(i, j)", "pair(i++, j)", "pair(i, bump(j))", "i--"])
        for _ in range(r.randrange(2, 7)):
            self.body.append(r.choice(["i = %s;", "j += %s;", "v[i & 7] = %s;", "v[j & 7] += %s;", "i = {0} + {0};", "j = {0} * {0};", "pair({0}, {0});",
                                       "i = {0} << 1;", "j = v[{0} & 7];", "i -= {0} - {0};", "if ({0}) j++;", "for (int k = 0; k < 3; k++) i += {0};"])
                             .replace("{0}", "%s") .replace("%s", "@@").replace("@@", "\0"))
            while "\0" in self.body[-1]:
                self.body[-1] = self.body[-1].replace("\0", one(), 1)
        self.launch([("int", "i"), ("int", "j"), ("int", "v[0]"), ("int", "v[1]"), ("int", "v[2]"), ("int", "v[3]")], "(i & 3) + 1")
        self.launch([("int", one()), ("int", one())])

    def make_control(self):
        r = self.r
        self.top.append("struct S {\n    %s x;\n    %s y;\n    %s z;\n};" % tuple(r.choice(INTS[:11] + FLOATS) for _ in range(3)))
        self.top.append("template <typename T, int N = %d> static T scaled(const T &x)\n{\n    return x * N;\n}" % r.randrange(1, 5))
        self.top.append("static constexpr long table[] = {%s};" % ", ".join(str(r.randrange(50)) for _ in range(4)))
        self.body.append("S s = {1, 2}; int n = a & 7; long t = 0;")
        self.vars += [("n", "int"), ("t", "long"), ("s.x", "int"), ("s.z", "int")]
        for _ in range(r.randrange(2, 6)):
            v = r.choice(["n", "t"])
            self.body.append(r.choice([
                "for (int i = 0; i < %d; i++) { t += i * n; if (i == n) break; }" % r.randrange(6),
                "while (n > %d) n--;" % r.randrange(5), "do { t += 2; } while (t < n);",
                "switch (n) { case %d: t += 1; case %d: t += 10; break; default: t += 100; case 7: t += 1000; }" % (r.randrange(3), r.randrange(3, 7)),
                "switch ((unsigned char)(n + 255)) { case 0: t = 5; break; case 255: t = 6; break; case 256 - 1 - 1: t = 7; }",
                "{ auto f = [&](int x) { t += x; return x + n; }; n = f(%s) & 15; }" % r.choice(["n", "a & 7", "3"]),
                "{ auto f = [=] { return n + 1; }; n = 0; n = f(); }", "{ int &r = n; r += 2; const long &q = t; t = 4; n += (int)q; }",
                "{ auto &x = s.x; x += 3; }", "s.z = scaled(n);", "t = scaled<long, 3>(n);", "t += table[n & 3];",
                "if (int k = n; k > 2) t = k; else t = -k;", "{ int n = 5; t += n; }", "s = S{%d, %d, %d};" % (r.randrange(9), r.randrange(9), r.randrange(9)),
                "t += sizeof(S) + sizeof(s.y) + sizeof(table);", "n = t > 3 ? n : (int)t;", "{ int w[3] = {1, n}; int *p = w; p++; *p += 4; t += w[1] + p[-1] + (p - w); }",
                "{ using U = unsigned; U u = (U)n - 9; t = u; }", "{ unsigned char k = 250; for (int i = 0; i < 10; i++) k++; t += k; }"]))
        self.launch([("S", "s"), ("int", "n"), ("long", "t")], "dim3(2, (n & 3) + 1)", "{32, 2}" if r.random() < .2 else "32u", "n & 7")


    def make_modern(self):
        """Ranges, structured bindings, attributes, conditions that declare, words as operators, values in braces."""
        r = self.r
        types = [r.choice(INTS[:11] + FLOATS) for _ in range(3)]
        self.top += ["struct S {\n    %s x;\n    %s y;\n    %s z[2];\n};" % tuple(types),
                     "[[nodiscard]] static S made(int n) noexcept(%s)\n{\n    return {(%s)n, (%s)(n / 2), {(%s)1, (%s)n}};\n}"
                     % (r.choice(["true", "1 > 2", "sizeof(int) == 4"]), types[0], types[1], types[2], types[2]),
                     "static int pick(int n, int m = %d);\n%sstatic int pick(int n, int m%s)\n{\n    return n * 16 + m;\n}"
                     % (r.randrange(9), r.choice(["", "static int pick(int, int);\n"]), r.choice(["", "", "", "", " = 3"])),
                     "template <%s N> static int narrow()\n{\n    return N;\n}" % r.choice(INTS),
                     "static constexpr %s table[] = {%s};" % (r.choice(INTS[:11]), ", ".join(str(r.randrange(100)) for _ in range(r.randrange(1, 5))))]
        self.body += ["S s = made(a & 63);", "int n = a & 7; long t = 0; int w[3] = {1, n, 3}; S all[2] = {made(n), made(b & 15)};"]
        self.vars += [("n", "int"), ("t", "long"), ("s.x", types[0]), ("s.y", types[1])]
        small = lambda: r.choice(["n", "(a & 3)", "%d" % r.randrange(300), "-1", "t & 7", "w[1]", "2.5", "1.0f", "'c'", "true", "300u"])
        for _ in range(r.randrange(2, 7)):
            v, t = r.choice(["n", "t"]), r.choice(INTS)
            how = r.choice(["int", "auto", "const auto &", "long", "unsigned char", "double", "auto &&"])
            self.body.append(r.choice([
                "for (%s x : w) t = t * 3 + x;" % how, "for (%s x : table) { if (x > 40) continue; t += x; if (t > 90) break; }" % how,
                "for (auto &x : w) x = x * 2 + n;", "for (%s x : {%s}) t = t * 5 + x;" % (how, ", ".join(r.choice(["1", "n", "a & 3"]) for _ in range(r.randrange(1, 4)))),
                "for (auto &[p, q, z] : all) { p = p + 1; t += (long)q + (long)z[1]; }", "for (auto x : all) t += (long)x.x;",
                "{ auto [p, q, z] = s; p = p + 2; t += (long)p + (long)q; }", "{ auto &[p, q, z] = s; q = (%s)n; z[0] = p; }" % types[1],
                "{ const auto [p, q, z] = made(n); t += sizeof(p) + (long)q; }", "{ auto &[p, q, z] = w; p = q; t += z; }", "{ const auto &[p, q, z] = s; s.x = 5; t += (long)p; }",
                "if (int k = n & 3) t += k; else t -= 5;", "if (auto k = made(n); k.x > 1) t += 2;", "switch (int k = n & 3) { case 0: t += 1; [[fallthrough]]; case 1: t += 10; break; default: t = k; }",
                "if (n > 2) [[likely]] t += 7; else [[unlikely]] { t -= 7; }", "[[maybe_unused]] int u%d = n; int m%d [[maybe_unused]] = 2;" % (len(self.body), len(self.body)),
                "t += (n > 2 and not (t < 5)) or (n bitand 1) == (compl n xor 3);", "n or_eq 4; t xor_eq n; n and_eq 15;", "t += alignof(%s) + alignof(%s *) + alignof(S);" % (t, t),
                "{ %s k{%s}; t += k; }" % (t, small()), "{ %s k = {%s}; t += k; }" % (t, small()), "t += %s{%s};" % (t if " " not in t else "int", small()),
                "{ %s k[2] = {%s, %s}; t += k[1]; }" % (t, small(), small()), "t += narrow<%s>();" % r.choice(["1", "255", "256", "-1", "'c'", "2", "70000u", "1ll << 40"]),
                "t += pick(n) + pick(n, 2);", "alignas(32) int g%d = n; t += sizeof(g%d);" % (len(self.body), len(self.body)),
                "t += sizeof(%s(%s));" % (r.choice(["exp", "sqrt", "floor", "abs", "round", "std::abs", "log2"]), r.choice(["1.0f", "2.0", "n", "t"])),
                "t += sizeof(%s(2.0f, %s));" % (r.choice(["pow", "std::pow", "fmax"]), r.choice(["1.0f", "2.0", "n"])), "t += std::%s({n, 3, (int)(t & 7)});" % r.choice(["min", "max"]),
                "{ auto f = [%s](int x) mutable { return x + n; }; t += f(3); }" % r.choice(["&", "=", "n", "&n"]), "t = n ? 1 : a ? 2u : -3l;"]))
        self.launch([(types[2], "s.z[1]"), (types[0], "s.x"), (types[1], "s.y"), ("int", "n"), ("long", "t"), ("int", "w[0]"), (types[0], "all[1].x")], "dim3{2, (unsigned)(n & 3) + 1}")

    def make_text(self):
        """Another kind, its characters disturbed as the first phases of translation see them."""
        getattr(self, "make_" + self.r.choice(["control", "macros", "enums"]))()
        self.disturb = True

    def disturbed(self, text):
        r = random.Random("text %s" % self.id)
        start = text.index('extern "C"')
        for _ in range(r.randrange(1, 4)):
            at = r.choice([m.start() for m in re.finditer(r"\S|\n", text)][r.randrange(2):])
            if "@" in text[max(0, at - 3):at + 3] or (at > start - 20 and at < start + 80):
                continue
            what = r.choice(["\\\n", "\\\n", "\\ \n", "/**/", " // x \\\n", " // x\n", " // y \\ \n", "/* \\\n */", "??/\n", "\f", "/\\\n* */"])
            text = text[:at] + what + text[at:]
        if r.random() < .2:
            text = text.replace("[", "<:", 1) if r.random() < .5 else text.replace("{", "<%", 1)
        return text


KINDS = ["modern", "text", "types", "enums", "macros", "overloads", "namespaces", "order", "control"]
# Refused because C++ gives it no meaning.
UNDEFINED = re.compile(r"division by zero|overflows|does not fit|a shift|order of evaluation|before it has a value|beyond the ends|element \d+ of")
ARGUMENTS = ["0,0,0", "1,2,3", "-5,7,100"]


def compile_batch(folder, batch, show=False):
    """Each launcher's recorded plans; None where g++ takes none."""
    alive = {l.id: l for l in batch}
    for l in batch:
        with open(os.path.join(folder, l.id + ".inc"), "w") as f:
            f.write(l.text(True))
    for _ in range(12):
        with open(os.path.join(folder, "all.cpp"), "w") as f:
            f.write(RUNTIME)
            for i in alive:
                f.write("#define go go_%s\nnamespace N_%s {\n#include \"%s.inc\"\n}\n#undef go\n" % (i, i, i))
            f.write("int main()\n{\n    signal(SIGFPE, recorded_signal);\n")
            for i in alive:
                for a in ARGUMENTS:
                    f.write('    printf("%s %s");\n    if (!sigsetjmp(recorded_jump, 1)) N_%s::go_%s(%s, nullptr); else printf(" crash");\n    puts("");\n'
                            % (i, a, i, i, a))
            f.write("}\n")
        made = subprocess.run(["g++", "-std=gnu++17", "-O0", "-w", "-fmax-errors=2000", "-o", folder + "/all", folder + "/all.cpp"], capture_output=True, text=True)
        if made.returncode == 0:
            break
        bad = set(re.findall(r"(\w+)\.inc:\d+:\d+: error", made.stderr)) or set(re.findall(r"(\w+)\.inc:\d", made.stderr))
        bad = bad & set(alive) or set(re.findall(r"namespace N_(\w+) \{", made.stderr)) & set(alive)  # a brace too few
        if show:
            print("\n".join(x for x in made.stderr.splitlines() if "error" in x)[:1500])
        if not bad:
            sys.exit("g++ fails without a place:\n" + made.stderr[:2000])
        for i in bad:
            del alive[i]
    out = subprocess.run([folder + "/all"], capture_output=True, text=True).stdout
    return {tuple(line.split(" ")[:2]): " ".join(line.split(" ")[2:]) for line in out.split("\n") if line}


def interpret(plans, folder, batch):
    lines = []
    for l in batch:
        path = os.path.join(folder, l.id + ".cu")
        with open(path, "w") as f:
            f.write(l.text(False))
        lines.append("%s go %s\n" % (path, " ".join(ARGUMENTS)))
    done = subprocess.run([plans], input="".join(lines), capture_output=True, text=True)
    out = done.stdout.rstrip("\n").split("\n")
    if done.returncode or len(out) != len(batch) * len(ARGUMENTS):
        sys.exit("%s ends with %d after %d of %d plans" % (plans, done.returncode, len(out), len(batch) * len(ARGUMENTS)))
    return {(l.id, a): out.pop(0) for l in batch for a in ARGUMENTS}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("plans")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=60, help="launchers of each kind")
    p.add_argument("--seconds", type=float, default=0, help="instead of --count: this long for each kind")
    p.add_argument("--kind", action="append", choices=KINDS)
    p.add_argument("--most-refused", type=float, default=100)
    p.add_argument("--show", action="store_true", help="why plans were refused")
    p.add_argument("--show-errors", action="store_true", help="what g++ refused")
    args = p.parse_args()
    passed = failed = 0
    for kind in args.kind or KINDS:
        counts = {"launchers": 0, "plans": 0, "refused": 0, "undefined": 0, "not C++": 0, "differ": 0}
        why, seed, start = {}, args.seed, time.time()
        while time.time() - start < args.seconds if args.seconds else counts["launchers"] < args.count:
            batch = [Launcher(seed + i, kind) for i in range(min(60, args.count) if not args.seconds else 60)]
            seed += len(batch)
            folder = tempfile.mkdtemp(prefix="astra-launchers-")
            recorded, planned = compile_batch(folder, batch, args.show_errors), interpret(args.plans, folder, batch)
            for key, plan in planned.items():
                if key not in recorded:
                    counts["not C++"] += 1
                    continue
                counts["plans"] += 1
                if plan.startswith("refused"):
                    counts["undefined" if UNDEFINED.search(plan) else "refused"] += 1
                    words = re.sub(r"[\d.]+(e[+-]?\d+)?", "N", plan.split("launcher: ")[-1])[:60]
                    why[words] = why.get(words, 0) + 1
                elif plan[5:].strip() != recorded[key].strip():
                    counts["differ"] += 1
                    kept = shutil.copy(os.path.join(folder, key[0] + ".cu"), tempfile.gettempdir())
                    print("%s with %s:\n  g++:         %s\n  interpreter: %s" % (kept, key[1], recorded[key], plan[5:]))
            counts["launchers"] += len(batch)
            shutil.rmtree(folder)
        share = 100.0 * counts["refused"] / max(counts["plans"], 1)
        print("%-10s %s, %.0f %% refused" % (kind, ", ".join("%d %s" % (n, k) for k, n in counts.items()), share))
        if args.show:
            for words in sorted(why, key=lambda w: -why[w])[:12]:
                print("    %5d %s" % (why[words], words))
        bad = counts["differ"] > 0 or share > args.most_refused
        passed, failed = passed + (not bad), failed + bad
    print("%d cases passed, %d failed" % (passed, failed))  # a case a kind
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
