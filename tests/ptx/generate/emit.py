"""Writes case files: PTX entries with their inputs and what they must leave in comments."""

import os
from functools import cache

from number import FORMATS, INTEGERS, NAN, decode, width

ANY, ZERO, NEAR = "*", "zero", "~"


@cache
def show(v, t):
    """One value as the case format writes it; floats are given as bits."""
    if isinstance(v, str):
        return v
    if t in INTEGERS:
        digits = INTEGERS[t][0] // 4
        return "0x%0*x" % (digits, v & ((1 << INTEGERS[t][0]) - 1)) if t[0] == "b" else str(v)
    x = decode(v, t)
    if not x.nan and not x.inf and abs(x.value) <= 4096 and (x.value * 16).denominator == 1:
        d = float(x.signed())
        return ("-" if x.sign and d == 0 else "") + ("%g" % abs(d) if d == 0 else "%.10g" % d)
    if x.inf:
        return "-inf" if x.sign else "inf"
    return "0x%0*x" % (width(t) // 4, v)


def listed(values, t):
    words = [show(v, t) for v in values]
    if len(words) > 1 and len(set(words)) == 1:
        return ["%s*%d" % (words[0], len(words))]
    lines, line = [], ""
    for w in words:
        if len(line) + len(w) + 1 > 100:
            lines.append(line)
            line = ""
        line += (" " if line else "") + w
    return lines + [line]


class Array:
    """kind: in, inout, out. values: initial ones; want: what must be left. words: elements a thread's register holds."""

    def __init__(self, kind, name, t, values=None, want=None, rule=None, words=1):
        self.kind, self.name, self.t, self.values, self.want = kind, name, t, values, want
        self.rule, self.words = rule, words

    def bits(self):
        return width(self.t) * self.words

    def comment(self):
        out = []
        if self.kind != "out":
            out += ["// %s %s %s: " % (self.kind, self.name, self.t) + listed(self.values, self.t)[0]]
            out += ["//:   " + x for x in listed(self.values, self.t)[1:]]
        if self.kind != "in":
            head = "// out %s %s%s:" % (self.name, self.t, " " + self.rule if self.rule else "")
            lines = listed(self.want, self.t) if self.want is not None else [""]
            out += [(head + " " + lines[0]).rstrip()] + ["//:   " + x for x in lines[1:]]
        return "\n".join(out)


class Module:
    def __init__(self, name, title, version="8.0", target="sm_90", head=""):
        self.name, self.title, self.version, self.target, self.head = name, title, version, target, head
        self.entries, self.names = [], set()

    def entry(self, name, arrays, body, regs="", note="", grid=1, block=32, shared=0, cluster=0, before="", directives=""):
        """body: PTX text in which $name is the generic-to-global address register of an array."""
        assert name not in self.names, name
        self.names.add(name)
        out = ["// case: " + name + (" " + note if note else "")]
        if (grid, block, shared, cluster) != (1, 32, 0, 0):
            more = " cluster %d" % cluster if cluster else ""
            out.append("// launch: grid %d block %d shared %d%s" % (grid, block, shared, more))
        out += [a.comment() for a in arrays]
        if before:
            out.append(before.rstrip())
        out.append(".visible .entry %s(%s)" % (name, ", ".join(".param .u64 p_" + a.name for a in arrays)))
        if directives:
            out.append(directives)
        out.append("{")
        out.append("    .reg .b64 %%ptr<%d>;" % max(1, len(arrays)))
        out.append("    .reg .b32 %me;")
        for line in regs.strip().splitlines():
            out.append("    " + line.strip())
        for k, a in enumerate(arrays):
            out.append("    ld.param.u64 %%ptr%d, [p_%s];" % (k, a.name))
            out.append("    cvta.to.global.u64 %%ptr%d, %%ptr%d;" % (k, k))
            body = body.replace("$" + a.name + "$", "%%ptr%d" % k)
        out.append("    mov.u32 %me, %tid.x;")
        for line in body.strip("\n").splitlines():
            line = line.strip()
            out.append(("" if line.endswith(":") else "    ") + line)
        out.append("    ret;")
        out.append("}")
        self.entries.append("\n".join(out))

    def each(self, name, code, inputs, outputs, note="", regs="", block=None):
        """A thread an element: loads %NAME of each input, runs code, stores %NAME of each output."""
        decl, pre, post = [], [], []
        arrays = inputs + outputs
        for a in arrays:
            n = a.bits()
            decl.append(".reg .b%d %%%s;" % (max(n, 16), a.name))
            decl.append(".reg .b64 %%q_%s;" % a.name)
            step = "mad.wide.u32 %%q_%s, %%me, %d, $%s$;" % (a.name, n // 8, a.name)
            if a.kind != "out":
                pre += [step, "ld.global.b%d %%%s, [%%q_%s];" % (n, a.name, a.name)]
            if a.kind != "in":
                post += ([step] if a.kind == "out" else []) + [
                    "st.global.b%d [%%q_%s], %%%s;" % (n, a.name, a.name)
                ]
        first = arrays[0]
        block = block or len(first.values) // first.words
        self.entry(name, arrays, "\n".join(pre + [code] + post), "\n".join(decl) + "\n" + regs, note, block=block)

    def write(self, folder):
        text = "// PTX conformance cases: %s. The format: tests/ptx/README.md\n" % self.title
        text += ".version %s\n.target %s\n.address_size 64\n" % (self.version, self.target)
        text += (self.head.rstrip() + "\n") if self.head else ""
        text += "\n" + "\n\n".join(self.entries) + "\n"
        with open(os.path.join(folder, self.name + ".ptx"), "w") as f:
            f.write(text)


def IN(name, t, values, words=1):
    return Array("in", name, t, values, words=words)


def OUT(name, t, want=None, rule=None, words=1):
    return Array("out", name, t, want=want, rule=rule, words=words)


def INOUT(name, t, values, want, words=1):
    return Array("inout", name, t, values, want, words=words)
