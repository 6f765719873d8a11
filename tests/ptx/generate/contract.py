"""Products and sums without a rounding of their own: which the assembler fuses, and which it does not. The ISA leaves
it open; the cases say what ptxas does, and a GPU holds it to them."""

import number as n
from emit import IN, OUT, Module
from floating import apply, cancelling
from number import NAN, decode, encode

TYPES = [("f32", 1), ("f64", 1), ("f16", 1), ("f16", 2), ("bf16", 1), ("bf16", 2)]

LOOP = """mov.u32 %n, %ntid.x;
mov.u32 %i, 0;
more:
add.u32 %i, %i, 7;
bar.sync 0;
setp.lt.u32 %again, %i, %n;
@%again bra more;
"""

TABLE = """and.b32 %i, %me, 1;
mul.lo.s32 %i, %i, 2;
to_at: .branchtargets one_at, one_at, two_at;
brx.idx %i, to_at;
"""


def twice(fmt, first, second, seen=lambda x, fmt: x):
    """second(the rounded first, ...), rounded too; seen: what the second makes of what it reads and gives."""

    def f(a, b, c):
        p = encode(first(a, b), fmt)
        return NAN if p == NAN else encode(seen(second(seen(decode(p, fmt), fmt), seen(c, fmt)), fmt), fmt)

    return f


def forms(fmt):
    minus = lambda a, b: n.add(a, n.neg(b))
    back = lambda a, b: n.add(n.neg(a), b)
    once = lambda second: lambda a, b, c: encode(second(n.mul(a, b), c), fmt)
    product = lambda a, b, c: encode(n.mul(a, b), fmt)

    def first(a, b, c):
        q = encode(n.mul(c, b), fmt)
        return NAN if q == NAN else encode(n.add(n.mul(a, b), decode(q, fmt)), fmt)

    return {"add": once(n.add), "sub": once(minus), "back": once(back), "product": product,
            "first": first, "add_twice": twice(fmt, n.mul, n.add), "sub_twice": twice(fmt, n.mul, minus)}


def cases(m, fmt, words):
    t = fmt + ("x2" if words == 2 else "")
    rows = cancelling(fmt, words)
    of = {k: apply(f, fmt, rows, ()) for k, f in forms(fmt).items()}
    regs = "\n".join(".reg .b%d %%%s;" % (max(16, n.width(fmt) * words), r) for r in ("p", "q")) + "\n.reg .pred %again;\n.reg .b32 %i, %n;"

    def case(name, code, *wants, note=""):
        inputs = [IN(k, fmt, r, words) for k, r in zip("abc", rows)]
        outputs = [OUT("de"[k], fmt, of[w] if isinstance(w, str) else w, words=words) for k, w in enumerate(wants)]
        m.each("%s_%s" % (name, t), code.replace("T", t), inputs, outputs, note, regs=regs)

    product = "mul.T %p, %a, %b;\n"
    case("mul_add", product + "add.T %d, %p, %c;", "add", note="fused")
    case("add_mul", product + "add.T %d, %c, %p;", "add", note="fused")
    case("mul_sub", product + "sub.T %d, %p, %c;", "sub", note="fused")
    case("sub_mul", product + "sub.T %d, %c, %p;", "back", note="fused")
    case("mulrn_add", "mul.rn.T %p, %a, %b;\nadd.T %d, %p, %c;", "add_twice", note="the product has a rounding")
    case("mul_addrn", product + "add.rn.T %d, %p, %c;", "add_twice", note="the sum has a rounding")
    case("kept", product + "sub.T %d, %p, %c;\nabs.T %e, %p;", "sub_twice", absolute(of["product"], fmt),
         note="somebody else reads the product")
    case("two_sums", product + "add.T %d, %p, %c;\nsub.T %e, %c, %p;", "add", "back", note="the product goes into both")
    case("two_products", product + "mul.T %q, %c, %b;\nadd.T %d, %p, %q;", "first", note="the first goes in, the other is rounded")
    loop = LOOP.replace("more", "more_" + t)
    case("far", product + loop + "sub.T %d, %p, %c;", "sub_twice", note="a loop lies between")
    case("barrier", product + "bar.sync 0;\nsub.T %d, %p, %c;", "sub", note="fused: a barrier ends no basic block")
    case("table", product + TABLE.replace("_at", "_" + t) + "one_%s:\nsub.T %%d, %%p, %%c;\nbra end_%s;\ntwo_%s:\nadd.T %%d, %%p, %%c;\nend_%s:" % (t, t, t, t),
         [(a if k // words % 2 == 0 else b) for k, (a, b) in enumerate(zip(of["sub_twice"], of["add_twice"]))], note="a table of labels lies between")
    if fmt in ("f32", "f64"):
        third = n.encode(n.Float(value=n.Fraction(1, 3)), fmt)
        number = "0%s%0*X" % (fmt[1] == "3" and "f" or "d", n.width(fmt) // 4, third)
        by_third = lambda f: [f(decode(a, fmt), decode(third, fmt), decode(c, fmt)) for a, c in zip(rows[0], rows[2])]
        case("far_number", "mul.T %p, %a, " + number + ";\n" + loop + "sub.T %d, %p, %c;", by_third(forms(fmt)["sub"]),
             note="fused: a factor is a constant of the instruction")
    if fmt == "f32":
        flushed = {k: apply(f, fmt, rows, ("ftz",)) for k, f in forms(fmt).items()}
        case("ftz_both", "mul.ftz.T %p, %a, %b;\nadd.ftz.T %d, %p, %c;", flushed["add"], note="fused")
        case("ftz_sum", product + "add.ftz.T %d, %p, %c;", apply(twice(fmt, n.mul, n.add, n.tiny), fmt, rows, ()),
             note="one of them flushes")
        case("sat_sum", product + "add.sat.T %d, %p, %c;", apply(forms(fmt)["add"], fmt, rows, ("sat",)), note="fused")


def absolute(bits, fmt):
    top = 1 << (n.width(fmt) - 1)
    return [b if b == NAN else b & ~top for b in bits]


def modules():
    m = Module("contract", "products and sums that the assembler fuses, or not", version="8.6")
    for fmt, words in TYPES:
        cases(m, fmt, words)
    return [m]
