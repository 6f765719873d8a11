"""Numbers by the book: IEEE formats as bits, operations exact in rationals and rounded once. Independent of the simulator."""

import random
from fractions import Fraction
from functools import cache
from math import isqrt

FORMATS = {  # exponent bits, stored mantissa bits
    "f16": (5, 10),
    "bf16": (8, 7),
    "f32": (8, 23),
    "f64": (11, 52),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
INTEGERS = {t + str(n): (n, t == "s") for t in "usb" for n in (8, 16, 32, 64)}


def width(t):
    return INTEGERS[t][0] if t in INTEGERS else 1 + sum(FORMATS[t])


def wrap(v, t):
    """An integer modulo the type."""
    n, signed = INTEGERS[t]
    v &= (1 << n) - 1
    return v - (1 << n) if signed and v >> (n - 1) else v


def limits(t):
    n, signed = INTEGERS[t]
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if signed else (0, (1 << n) - 1)


def clamp(v, t):
    low, high = limits(t)
    return max(low, min(high, v))


class Float:
    """sign, and one of: nan, inf, value (a Fraction, zero keeps its sign). Never changed: those of the same bits are shared."""

    def __init__(self, sign=0, value=Fraction(0), inf=False, nan=False):
        self.sign, self.value, self.inf, self.nan = sign, value, inf, nan

    def signed(self):
        return -self.value if self.sign else self.value

    def zero(self):
        return not self.nan and not self.inf and self.value == 0


@cache
def decode(bits, fmt):
    e_bits, m_bits = FORMATS[fmt]
    sign, e, m = bits >> (e_bits + m_bits) & 1, bits >> m_bits & ((1 << e_bits) - 1), bits & ((1 << m_bits) - 1)
    bias = (1 << (e_bits - 1)) - 1
    if fmt == "e4m3" and e == 15 and m == 7:
        return Float(nan=True)
    if e == (1 << e_bits) - 1 and fmt != "e4m3":
        return Float(sign, nan=True) if m else Float(sign, inf=True)
    if e == 0:
        return Float(sign, Fraction(m) * Fraction(2) ** (1 - bias - m_bits))
    return Float(sign, Fraction(m + (1 << m_bits)) * Fraction(2) ** (e - bias - m_bits))


NAN = "nan"  # any NaN will do


def canonical(fmt):
    return {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}[fmt]


def inf_bits(fmt, sign=0):
    e_bits, m_bits = FORMATS[fmt]
    return sign << (e_bits + m_bits) | ((1 << e_bits) - 1) << m_bits


def encode(x, fmt, mode="rn", saturate=False):
    """Bits of x rounded once to the format; NAN for a NaN. saturate: to the largest number instead of infinity."""
    e_bits, m_bits = FORMATS[fmt]
    if x.nan:
        return NAN
    top = inf_bits(fmt)
    sign = x.sign << (e_bits + m_bits)
    if fmt == "e4m3":
        top = 0x7F
    if x.inf:
        return sign | (top - 1 if saturate else top)
    if x.value == 0:
        return sign
    bias, above, below = (1 << (e_bits - 1)) - 1, x.value.numerator, x.value.denominator
    e = above.bit_length() - below.bit_length()
    if below << max(e, 0) > above << max(-e, 0):
        e -= 1
    e = max(e, 1 - bias)
    below <<= max(e - m_bits, 0)
    n, rest = divmod(above << max(m_bits - e, 0), below)
    up = {
        "rn": 2 * rest > below or (2 * rest == below and n & 1),
        "rz": False,
        "rm": rest and x.sign,
        "rp": rest and not x.sign,
        "rna": 2 * rest >= below,
    }[mode]
    n += 1 if up else 0
    bits = n + ((e + bias - 1) << m_bits)
    if bits >= top:
        toward_zero = mode == "rz" or (mode == "rm" and not x.sign) or (mode == "rp" and x.sign)
        bits = top - 1 if saturate or toward_zero else top
    return sign | bits


def flush(bits, fmt):
    """Subnormals to a zero of the same sign."""
    e_bits, m_bits = FORMATS[fmt]
    if bits == NAN or bits >> m_bits & ((1 << e_bits) - 1):
        return bits
    return bits & 1 << (e_bits + m_bits)


def tiny(x, fmt):
    """Subnormals to a zero of the same sign, before anything is rounded."""
    least = Fraction(2) ** (2 - (1 << (FORMATS[fmt][0] - 1)))
    return Float(x.sign) if not x.nan and not x.inf and x.value < least else x


def add(a, b, mode="rn"):
    if a.nan or b.nan or (a.inf and b.inf and a.sign != b.sign):
        return Float(nan=True)
    if a.inf or b.inf:
        return a if a.inf else b
    v = a.signed() + b.signed()
    if v == 0:
        if a.zero() and b.zero() and a.sign == b.sign:
            return Float(a.sign)
        return Float(1 if mode == "rm" else 0)
    return Float(int(v < 0), abs(v))


def neg(a):
    return Float(a.sign ^ 1, a.value, a.inf, a.nan)


def mul(a, b):
    sign = a.sign ^ b.sign
    if a.nan or b.nan or (a.inf and b.zero()) or (b.inf and a.zero()):
        return Float(nan=True)
    if a.inf or b.inf:
        return Float(sign, inf=True)
    return Float(sign, a.value * b.value)


def div(a, b):
    sign = a.sign ^ b.sign
    if a.nan or b.nan or (a.inf and b.inf) or (a.zero() and b.zero()):
        return Float(nan=True)
    if a.inf or b.zero():
        return Float(sign, inf=True)
    if b.inf or a.zero():
        return Float(sign)
    return Float(sign, a.value / b.value)


def sqrt(a):
    """To 300 bits, the last of them a trace of what is left: rounding it rounds the root."""
    if a.nan or (a.sign and not a.zero()):
        return Float(nan=True)
    if a.inf or a.zero():
        return a
    shift = 600
    n = a.value * Fraction(4) ** shift
    whole = n.numerator // n.denominator
    r = isqrt(whole)
    return Float(0, Fraction(2 * r + (r * r != n)) / Fraction(2) ** (shift + 1))


def compare(a, b):
    """-1, 0, 1, or None when unordered."""
    if a.nan or b.nan:
        return None

    def key(x):
        return (-1 if x.sign else 1) * (Fraction(2) ** 2000 if x.inf else x.value)

    return (key(a) > key(b)) - (key(a) < key(b))


def from_python(d, fmt):
    """Bits of a Python float rounded to the format."""
    if d != d:
        return inf_bits(fmt) | 1 << (FORMATS[fmt][1] - 1)
    sign = 1 if str(d).startswith("-") else 0
    if d in (float("inf"), float("-inf")):
        return inf_bits(fmt, sign)
    return encode(Float(sign, abs(Fraction(d))), fmt)


def edges(fmt):
    """Values at which things go wrong."""
    e_bits, m_bits = FORMATS[fmt]
    one = ((1 << (e_bits - 1)) - 1) << m_bits
    top = inf_bits(fmt)
    positive = [0, one, 1, (1 << m_bits) - 1, 1 << m_bits, top - 1, top, one + 1, one - 1, one + (1 << (m_bits - 1))]
    return [s << (e_bits + m_bits) | v for v in positive for s in (0, 1)] + [top | 1 << (m_bits - 1), top | 1]


def sample(fmt, n, seed, near=None, size=3):
    """Edge values first, then numbers of ordinary size with random mantissas."""
    r = random.Random(seed)
    e_bits, m_bits = FORMATS[fmt]
    bias = (1 << (e_bits - 1)) - 1
    values = edges(fmt)
    r.shuffle(values)
    values = values[: n * 2 // 3]
    while len(values) < n:
        e = bias + r.randint(-size, size)
        values.append(r.getrandbits(1) << (e_bits + m_bits) | e << m_bits | r.getrandbits(m_bits))
    r.shuffle(values)
    return values


def plain(fmt, n, seed, size=3, positive=False):
    r = random.Random(seed)
    e_bits, m_bits = FORMATS[fmt]
    bias = (1 << (e_bits - 1)) - 1
    sign = 0 if positive else 1
    return [
        (r.getrandbits(1) & sign) << (e_bits + m_bits)
        | (bias + r.randint(-size, size)) << m_bits
        | r.getrandbits(m_bits)
        for _ in range(n)
    ]


def integers(t, n, seed):
    """Edge values first, then random ones of all magnitudes."""
    r = random.Random(seed)
    low, high = limits(t)
    values = [0, 1, 2, 3, 5, 7, high, high - 1, low, low + 1, high // 2, high // 2 + 1, low // 2, 100, 255, 128]
    values += [-1, -2, -3, -128, -7] if low < 0 else [high // 3, 0x55]
    values = [v for v in values if low <= v <= high]
    while len(values) < n:
        values.append(wrap(r.getrandbits(r.randint(1, width(t))), t))
    r.shuffle(values)
    return values[:n]
