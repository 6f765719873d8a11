#!/usr/bin/env python3
"""The report's charts and code, drawn from figures and read again: charts.py DRAW [CASE]...

What is drawn is parsed as XML. Whatever the figures, it holds what was given and nothing else, its texts stand
inside the picture and beside each other, and no number is NAN.
"""

import json
import os
import random
import re
import subprocess
import sys
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
# pylint: disable=wrong-import-position
from harness import ASTRA as DRAW, case, cases, expect, main

CHARACTER = 0.5  # of a text's size, at least as wide as most fonts have it
LONG = "tokens_of_all_sequences=16384 heads=128 head_dimension=256 pages=12345678"
HARSH = "<b>&\"'</title>\u4e16\u754c"


def raw(**figures):
    done = subprocess.run([DRAW], input=json.dumps(figures).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=30, check=False)
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def draw(**figures):
    """The picture, checked for what holds of all of them."""
    text = raw(id="c", **figures)
    expect(not re.search(r"[\"\s(,>-](nan|inf)", text), "a number that is none is drawn")
    picture = ElementTree.fromstring(text)
    ids = [x.get("id") for x in picture.iter() if x.get("id")]
    expect(len(ids) == len(set(ids)) and all(i == "c" or i.startswith("c-") for i in ids), f"ids {ids[:5]}")
    if picture.tag == "p":
        expect("".join(picture.itertext()).strip(), "no reason for the missing picture")
        return picture
    expect(picture.tag == "svg" and picture.get("role") in ("img", "group"), "no picture with a role")
    for name in picture.get("aria-labelledby").split():
        expect("".join(picture.find(f".//*[@id='{name}']").itertext()).strip(), f"{name} says nothing")
    check_texts(picture)
    check_places(picture)
    return picture


def has(element, word):
    return word in element.get("class", "").split()


def marked(picture, word, tag=None):
    return [x for x in picture.iter(tag) if has(x, word)]


def title(element):
    return element.find("title").text


def size_of(picture):
    return [float(x) for x in picture.get("viewBox").split()[2:]]


def check_texts(picture):
    """Texts inside the picture and none over another; turned ones, along the roofs, aside."""
    width, height = size_of(picture)
    boxes = []
    for t in picture.iter("text"):
        if t.get("transform"):
            continue
        size = 10 if has(t, "small") else 12
        x, y, long = float(t.get("x")), float(t.get("y")), size * CHARACTER * len(t.text)
        x -= {"end": long, "middle": long / 2}.get(t.get("text-anchor"), 0)
        expect(x >= -6 and x + long <= width + 6 and y >= size * 0.7 and y <= height, f"{t.text!r} at {x}, {y} is outside {width} x {height}")
        boxes.append((x, y - size * 0.7, x + long, y, t.text))
    boxes.sort(key=lambda b: b[1])
    for i, a in enumerate(boxes):
        for b in boxes[i + 1:]:
            if b[1] >= a[3]:
                break
            expect(a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5, f"{a[4]!r} and {b[4]!r} overlap at {b[:4]}")


def check_places(picture):
    width, height = size_of(picture)
    for e in picture.iter():
        places = []
        if e.tag == "circle":
            places = [(float(e.get("cx")), float(e.get("cy")))]
        elif e.tag == "rect":
            places = [(float(e.get("x")), float(e.get("y")))]
        elif e.tag == "path":
            places = [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", e.get("d"))]
        for x, y in places:
            expect(-1 <= x <= width + 1 and -1 <= y <= height + 1, f"{e.tag} {e.get('class')} at {x}, {y}")


def counts(*numbers):
    return [(str(n), n) for n in numbers]


# ---- rows ----


def speedup(i, **more):
    row = {"label": f"rows={i} d=4096", "cold": (1 + i, None, None), "hot": (1 + i / 2, None, None), **more}
    return [row["label"], *row["cold"], *row["hot"]]


@case
def rows_hold_their_figures(_):
    rows = [["a=1", 2.0, 1.9, 2.1, 3.0, 2.5, 3.5], ["a=2", 0.5, 0.49, 0.51, None, None, None]]
    picture = draw(chart="speedups", rows=rows)
    titles = [title(g) for g in marked(picture, "row")]
    expect(titles == ["a=1, cold: 2.00\u00d7 (1.90\u00d7 to 2.10\u00d7)", "a=1, hot: 3.00\u00d7 (2.50\u00d7 to 3.50\u00d7)",
                      "a=2, cold: 0.50\u00d7 (0.49\u00d7 to 0.51\u00d7)", "a=2, hot: not known"], titles)
    expect(len(marked(picture, "mark")) == 3 + 2 and len(marked(picture, "whisker")) == 3, "marks")  # 2 beside the names


@case
def ratios_stand_on_a_log_scale(_):
    picture = draw(chart="speedups", rows=[[f"a={v}", v, None, None, None, None, None] for v in (0.1, 1, 10, 100)])
    places = [float(m.get("cx")) for m in marked(picture, "mark", "circle")[1:]]
    steps = [b - a for a, b in zip(places, places[1:])]
    expect(min(steps) > 20 and max(steps) - min(steps) < 0.3, steps)
    reference = float(re.match(r"M([\d.]+)", marked(picture, "reference")[0].get("d")).group(1))
    expect(abs(reference - places[1]) < 0.2, "the line at 1")


@case
def close_ratios_stand_on_a_linear_scale(_):
    picture = draw(chart="speedups", rows=[[f"a={v}", v, None, None, None, None, None] for v in (1.0, 1.1, 1.2)])
    places = [float(m.get("cx")) for m in marked(picture, "mark", "circle")[1:]]
    expect(abs((places[1] - places[0]) - (places[2] - places[1])) < 0.3, places)


@cases(counts(0, 1, 2, 200))
def many_rows(_, value):
    n = value[1]
    for chart in ("speedups", "shares", "errors"):
        picture = draw(chart=chart, rows=[speedup(i) for i in range(n)])
        if n:
            expect(len(marked(picture, "row")) == 2 * n, "rows")
            expect(f"{n} of {n} rows known" in picture.find("desc").text, picture.find("desc").text)
        else:
            expect(picture.tag == "p", "a picture of nothing")


@cases([("extreme", [1e-9, 1e9, 1.0]), ("tiny", [1e-300, 1.0, 2.0]), ("huge", [1e300, 1.0, 2.0]), ("zero", [0.0, 1.0, 1.0]),
        ("negative", [-3.0, 1.0, 2.0]), ("alike", [1.0, 1.0, 1.0]), ("almost", [1.0000001, 1.0, 0.9999999])])
def strange_ratios(_, named):
    rows = [[f"a={i}", v, v / 2, v * 2, v, None, None] for i, v in enumerate(named[1])]
    for chart in ("speedups", "shares", "errors"):
        expect(len(marked(draw(chart=chart, rows=rows), "row")) == 6, "rows")


@case
def unknown_rows(_):
    nothing = [None] * 6
    expect(draw(chart="speedups", rows=[["a", *nothing]]).tag == "p", "nothing known")
    picture = draw(chart="speedups", rows=[["a", *nothing], ["b", 2, None, None, *nothing[:3]]])
    expect([title(g) for g in marked(picture, "row")] == ["a, cold: not known", "b, cold: 2.00\u00d7"], "an empty series is left out")


@case
def long_and_harsh_names(_):
    rows = [speedup(1, label=LONG), speedup(2, label="x" * 300), speedup(3, label=HARSH), speedup(4, label="")]
    picture = draw(chart="speedups", rows=rows)
    expect(title(marked(picture, "row")[4]).startswith(HARSH), "the name is whole in the title")
    expect(title(marked(picture, "row")[2]).startswith("x" * 300), "the name is whole in the title")


# ---- the roofline ----

ROOFS = [["DRAM", 4.8e12, True], ["L2", 5.2e12, True], ["FP32", 66.9e12, False], ["FP16", 133.8e12, False]]


@case
def roofline_holds_every_step(_):
    paths = [{"label": f"largest: {LONG}", "points": [[0, 0.5, 1e11], [3, 0.6, 8e11], [7, None, 9e11], [9, 0.6, 2e12]]},
             {"label": "smallest", "points": [[0, 0.5, 1e9], [3, 0.6, 1e10], [7, 0.6, 2e10], [9, 0.6, 2e10]]}]
    picture = draw(chart="roofline", roofs=ROOFS, paths=paths)
    points = [title(g) for g in marked(picture, "point")]
    expect(len(points) == 7 and len(marked(picture, "roof")) == 4 and len(marked(picture, "lineage")) == 2, points)
    expect(points[3] == "smallest, the original: 0.50 operations a byte, 1 Gop/s", points[3])
    expect(points[-1] == "smallest, candidate 9, the best: 0.60 operations a byte, 20 Gop/s", points[-1])


@case
def roofline_is_log_log(_):
    points = [[i, 10.0 ** i, 10.0 ** (9 + i)] for i in range(3)]
    picture = draw(chart="roofline", roofs=ROOFS, paths=[{"label": "w", "points": points}])
    places = [(float(c.get("cx")), float(c.get("cy"))) for g in marked(picture, "point") for c in g.iter("circle")]
    for axis in (0, 1):
        steps = [b[axis] - a[axis] for a, b in zip(places, places[1:])]
        expect(abs(steps[0] - steps[1]) < 0.3 and abs(steps[0]) > 20, (axis, steps))


@cases([("none", []), ("unknown", [[0, None, None]]), ("no operations", [[0, 0, 0], [1, 0, 0]])])
def roofline_without_points(_, points):
    expect(draw(chart="roofline", roofs=ROOFS, paths=[{"label": "w", "points": points[1]}]).tag == "p", "a picture")


@case
def roofline_of_one_place(_):
    points = [[i, 0.5, 1e12] for i in range(20)]
    expect(len(marked(draw(chart="roofline", roofs=ROOFS, paths=[{"label": "w", "points": points}]), "point")) == 20, "points")
    expect(len(marked(draw(chart="roofline", roofs=[], paths=[{"label": "w", "points": points}]), "roof")) == 0, "roofs")
    for extreme in ([0, 1e-9, 1.0], [0, 1e9, 1e18]):
        draw(chart="roofline", roofs=ROOFS, paths=[{"label": "w", "points": [extreme]}])


# ---- candidates ----

VERDICTS = ["passed", "slower", "wrong", "unsafe", "nondeterministic", "crashed", "hung", "launch-failed", "compile-failed",
            "not-understood", "unsupported", "cheat"]


def candidates(n, rounds=3, seed=1):
    """n candidates of all verdicts, some on each other within a round; the lineage of the last that passed."""
    dice = random.Random(seed)
    nodes = [{"parent": -1, "round": 0, "verdict": "passed", "score": 1.0}]
    for i in range(1, n):
        this = 1 + (i - 1) * rounds // max(n - 1, 1)
        verdict = VERDICTS[i % len(VERDICTS)]
        correct = verdict in ("passed", "slower")
        older = [k for k in range(i) if nodes[k]["round"] < this or dice.random() < 0.1]
        nodes.append({"parent": dice.choice(older), "round": this, "verdict": verdict, "name": f"move {i} {HARSH}", "reason": "r" * 900,
                      "plan": "p\u4e16" * 500, "words": "", "score": dice.uniform(0.2, 30) if correct else None, "gain": 1.5 if correct else None})
    best = max((i for i in range(n) if nodes[i]["verdict"] == "passed"), default=0)
    at = best
    while at >= 0:
        nodes[at]["in_lineage"] = True
        at = nodes[at]["parent"]
    return nodes, best


@cases(counts(1, 2, 13, 50, 200))
def tree_holds_every_candidate(_, value):
    n = value[1]
    nodes, best = candidates(n)
    picture = draw(chart="tree", nodes=nodes, best=best, row="candidate")
    links = [a for a in picture.iter("a")]
    expect([a.get("href") for a in links] == [f"#candidate-{i}" for i in range(n)], "a link for each")
    expect([a.get("id") for a in links] == [f"c-{i}" for i in range(n)], "an id for each")
    expect([i for i, a in enumerate(links) if has(a, "best")] == [best], "the best")
    expect([i for i, a in enumerate(links) if has(a, "lineage")] == [i for i, x in enumerate(nodes) if x.get("in_lineage")], "the lineage")
    edges = marked(picture, "edge")
    expect(len(edges) == n - 1 and len([e for e in edges if has(e, "lineage")]) == sum(bool(x.get("in_lineage")) for x in nodes) - 1, "edges")
    for i, a in enumerate(links[1:], 1):
        expect(title(a).startswith(f"candidate {i}: move {i} {HARSH}") and nodes[i]["verdict"] in title(a), title(a)[:200])


@case
def verdicts_differ_without_colour(_):
    nodes, _best = candidates(13)
    picture = draw(chart="tree", nodes=nodes, best=0, row="")
    below = {}
    for x, a in zip(nodes[1:], list(picture.iter("a"))[1:]):
        shape = marked(a, "shape")[0]
        below[x["verdict"]] = (shape.tag, len(shape.get("d", "")) > 60, marked(a, "below")[0].text if x["score"] is None else "")
        expect(a.get("tabindex") == "0", "without a link it can be focused all the same")
    expect(len(set(below.values())) == len(VERDICTS), below)


@case
def a_node_stands_below_its_parent(_):
    nodes, best = candidates(50)
    picture = draw(chart="tree", nodes=nodes, best=best, row="")
    at = [float(marked(a, "below")[0].get("y")) for a in picture.iter("a")]
    expect(all(at[i] > at[x["parent"]] for i, x in enumerate(nodes) if x["parent"] >= 0), "parents above")


@cases(counts(0, 1, 2, 50, 200))
def progress_holds_every_candidate(_, value):
    n = value[1]
    nodes, _best = candidates(n) if n else ([], 0)
    picture = draw(chart="progress", nodes=nodes)
    if n < 2:
        expect(picture.tag == "p", "a picture of nothing")
        return
    expect(len(marked(picture, "point")) == n - 1, "points")
    timed = [x["score"] for x in nodes[1:] if x["verdict"] == "passed"]
    rises = sum(s > max([1.0] + timed[:i]) for i, s in enumerate(timed))
    expect(marked(picture, "so-far")[-1].get("d").count("V") == rises, "the best so far rises")


# ---- code ----


def code(text):
    """The lines as they are shown, and as they are marked."""
    bytes_ = text if isinstance(text, bytes) else text.encode()
    tree = ElementTree.fromstring(raw(hex=bytes_.hex()))
    return ["".join(c.itertext()) for c in tree], [[(s.get("class"), s.text) for s in c] for c in tree]


@case
def code_is_coloured(_):
    _, marks = code('#include <a.h>\n__global__ void k(float *x) { // a "comment"\n  x[0] = 1.5e-3f + \'\\\'\'; /* two\nlines */ return "s\\"t";\n}\n')
    expect(marks == [[("p", "#include")], [("k", "__global__"), ("t", "void"), ("t", "float"), ("c", '// a "comment"')],
                     [("n", "0"), ("n", "1.5e-3f"), ("s", "'\\''"), ("c", "/* two")], [("c", "lines */"), ("k", "return"), ("s", '"s\\"t"')], []], marks)


@case
def code_is_shown_whole(_):
    for text in ("", "\n\n", "no newline", "a\r\nb\r\n", "/* open", "'", '"', "#", "<script>alert('&amp;')</script>\n", "\\\n", "\ttab"):
        lines, _marks = code(text)
        expect(lines == text.splitlines(), (text, lines))


@case
def a_long_line_is_cut(_):
    lines, _ = code("x" * 100000 + "\nshort\n")
    expect(len(lines[0]) < 500 and "99600 more bytes" in lines[0] and lines[1] == "short", lines[0][-40:])
    lines, _ = code("\u4e16" * 1000)
    expect("\ufffd" not in lines[0] and lines[0].startswith("\u4e16" * 100), "a character is not cut")


def plain(line):
    """What is left of a line's bytes that need not be text; where some are not, one mark stands for all in a row."""
    text = line.decode("utf-8", "replace")
    return "".join(c if c == "\t" or (ord(c) >= 32 and ord(c) != 127) else "\t" if c == "\r" else "\ufffd" for c in text)


@case
def any_bytes_are_shown(_):
    dice = random.Random(7)
    pieces = [b"/*", b"*/", b"//", b'"', b"'", b"\\", b"\n", b"\r", b"#if", b"<&>", b"float", b"0x1.p+3", "\u00e9\u4e16\U0001f600".encode()]
    for _round in range(40):
        text = b"".join(dice.choice(pieces) if dice.random() < 0.5 else bytes([dice.randrange(1, 256)]) for _ in range(300))
        lines, _marks = code(text)
        for shown, given in zip(lines, text.split(b"\n")):
            given = given[:-1] if given.endswith(b"\r") else given
            one, other = (re.sub("\ufffd+", "\ufffd", x) for x in (shown.replace("\n", "\t"), plain(given)))
            expect(one == other, (one, other))


if __name__ == "__main__":
    main()
