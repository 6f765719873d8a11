"""The table of tools/h200/capture.sh, from the files in its folder."""

import json
import os
import sys

out = sys.argv[1]


def text(name):
    try:
        with open(os.path.join(out, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def data(name):
    try:
        return json.loads(text(name))
    except ValueError:
        return None


def told(name):
    """The object that transformer.py printed."""
    for line in text(name + ".txt").splitlines():
        if line.startswith('{"decode"'):
            return json.loads(line)
    return None


def runs(how, way):
    """Their names, as WAYS had them."""
    return sorted(name.removesuffix(".txt") for name in os.listdir(out) if name.startswith(f"{how}-{way}") and name.endswith(".txt"))


def last_words(name):
    lines = [line for line in text(name + ".txt").splitlines() if line.strip()]
    return lines[-1][:110] if lines else "nothing"


def runtime_program(name):
    ranking = data(name + ".json")
    if not ranking:
        print(f"{name:14} no ranking: {last_words(name)}")
        return
    counts = {("scale" if "scale" in k["name"] else "add"): (k["launches"], k["in_graphs"]) for k in ranking["kernels"]}
    right = counts == {"scale": (400, 0), "add": (120, 100)}
    same = [line for line in text(name.split("-")[0] + "-alone.txt").splitlines() if "x[0]" in line]
    alike = bool(same) and same[0] in text(name + ".txt")
    means = ", ".join(f"{k['shapes'][0]['mean_us'] or 0:.2f} us x {k['shapes'][0]['timed']}" for k in ranking["kernels"])
    print(f"{name:14} {'right' if right else 'WRONG'} counts {counts}; the same answer: {alike}; {ranking['times']}; {means}; {ranking['not_seen']['cupti'] or ''}")


def answers(how, with_it):
    """Some of the program's answers differ from run to run: one of those that runs without us gave is the same."""
    others = [t["answer"] for t in map(told, (*runs(how, "alone"), f"{how}-profile")) if t]
    return f"answer as in {others.count(with_it['answer'])} of {len(others)} runs without, which gave {len(set(others))}"


def overhead(how, way):
    alone, with_it = [a for a in map(told, runs(how, "alone")) if a], told(f"{how}-{way}")
    if not alone or not with_it:
        return print(f"{how:9} {way:7} overhead not known: {last_words(how + '-' + way)}")
    for part in ("decode", "prefill"):
        for what in ("median_us", "mean_us"):
            base = [a[part][what] for a in alone]
            mean = sum(base) / len(base)
            print(f"{how:9} {way:7} {part:8} {what[:-3]:6} {mean:9.1f} us alone (runs apart {100 * (max(base) / min(base) - 1):.1f} %), "
                  f"{with_it[part][what]:9.1f} us captured: {100 * (with_it[part][what] / mean - 1):+.1f} %; {answers(how, with_it)}")
    return None


def agreement(how, way):
    ranking, profile = data(f"{how}-{way}.json"), data(f"{how}-profile.json")
    if not ranking or not profile:
        return print(f"{how:9} {way:7} not compared: {last_words(how + '-' + (way if not ranking else 'profile'))}")
    whole = sum(v[1] for v in profile.values())
    theirs = {}
    for name, (n, us) in profile.items():
        theirs[name] = (n, us / whole)
    ours = {k["name"]: (k["launches"], k["share"] or 0) for k in ranking["kernels"]}
    names = set(ours) | set(theirs)
    apart = {n: ours.get(n, (0, 0))[1] - theirs.get(n, (0, 0))[1] for n in names}
    worst = max(names, key=lambda n: abs(apart[n]))
    top = sorted(names, key=lambda n: -theirs.get(n, (0, 0))[1])[:10]
    order = sorted(ours, key=lambda n: -ours[n][1])[:10]
    windows, without = ranking.get("windows"), ranking["not_seen"]
    n_ours, n_theirs = sum(v[0] for v in ours.values()), sum(v[0] for v in theirs.values())
    print(f"{how:9} {way:7} {n_ours} launches, profiler {n_theirs}; GPU time {ranking['gpu_ms']:.2f} ms, profiler {whole / 1e3:.2f} ms ({100 * (ranking['gpu_ms'] * 1e3 / whole - 1):+.2f} %); "
          f"share furthest apart {100 * apart[worst]:+.2f} points ({worst[:40]}); names in one alone {len(set(ours) ^ set(theirs))}; first ten alike {len(set(top) & set(order))}, same order {top == order}; {windows} windows, {ranking['processes'][-1]['timing_share_of_wall']:.3f} of the time; "
          f"without a time {without['launches_without_time']}, by another shape {without['launches_timed_by_another_shape']}")
    return None


for name in ("static-auto", "static-events", "shared-auto", "shared-events"):
    runtime_program(name)
for i in (1, 2, 3):
    ranking = data(f"threads-{i}.json")
    print(f"threads-{i}      {(ranking or {}).get('windows')} windows, {(ranking or {}).get('launches')} launches; "
          f"{next((line for line in text(f'threads-{i}.txt').splitlines() if 'launches, ' in line), last_words(f'threads-{i}'))}")
for how in ("eager", "graphs", "compiled"):
    for run in runs(how, "auto") if told(f"{how}-alone-1") else ():
        way = run.removeprefix(how + "-")
        overhead(how, way)
        agreement(how, way)
