#!/usr/bin/env python3
"""Turns task folders into the plain lines that bench reads: shapes and scalars worked out per workload."""
import argparse
import os
import sys

import yaml

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("examples")
parser.add_argument("points")
parser.add_argument("build", help="where the shared objects go")
parser.add_argument("extra", nargs="*", help="TASK=FILE.cu")
options = parser.parse_args()

extra = {}
for pair in options.extra:
    task, _, path = pair.partition("=")
    if not path or not os.path.isfile(path):
        sys.exit(f"manifest: {pair}: want TASK=FILE.cu")
    extra.setdefault(task, []).append(path)


def number(expression, dims):
    """A shape or scalar expression over the dims."""
    return eval(str(expression), {"__builtins__": {}}, dims)


def versions(folder, name):
    points = os.path.join(options.points, name)
    found = [os.path.join(folder, "production.cu")]
    if os.path.isdir(points):
        found += [os.path.join(points, f) for f in sorted(os.listdir(points)) if f.endswith(".cu")]
    found += extra.get(name, [])
    return [path for path in found if os.path.isfile(path)]


commands = []
lines = []
for name in sorted(os.listdir(options.examples)):
    folder = os.path.join(options.examples, name)
    description = os.path.join(folder, "task.yaml")
    if not os.path.isfile(description):
        continue
    with open(description) as file:
        task = yaml.safe_load(file)
    lines.append(f"task {name} {task['entry']} {task.get('regime', 'cold')}")
    for arg in task["args"]:
        special = [str(s) for s in (arg.get("values") or {}).get("special", [])]
        kind = "buffer" if "shape" in arg else "scalar"
        lines.append(f"arg {arg['name']} {kind} {arg['type']} {arg.get('role', '-')} {int('-inf' in special)}")
    sources = [os.path.join(folder, task["source"])] + versions(folder, name)
    for index, source in enumerate(sources):
        label = os.path.splitext(os.path.basename(source))[0]
        library = os.path.join(options.build, f"{name}.{index}.so")
        lines.append(f"version {label} {library}")
        commands.append(f"{library} {source} {' '.join(task.get('flags', []))}")
    for row in task["workloads"]:
        dims = dict(zip(task["dims"], row))
        values = []
        for arg in task["args"]:
            value = 1
            for factor in arg.get("shape", [arg.get("value", 0)]):
                value *= number(factor, dims)
            values.append(f"{value:.17g}" if isinstance(value, float) else str(value))
        lines.append(f"workload {'x'.join(map(str, row))} {' '.join(values)}")
    lines.append("end")
for name in set(extra) - {line.split()[1] for line in lines if line.startswith("task ")}:
    sys.exit(f"manifest: no task {name}")

with open(os.path.join(options.build, "manifest"), "w") as file:
    file.write("\n".join(lines) + "\n")
with open(os.path.join(options.build, "commands"), "w") as file:
    file.write("\n".join(commands) + "\n")
