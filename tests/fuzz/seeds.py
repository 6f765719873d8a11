#!/usr/bin/env python3
"""First inputs that are no files of the project: seeds.py run|result FOLDER."""
import hashlib
import json
import pathlib
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TASK = ROOT / "examples/silu_and_mul"

kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
best = (TASK / "kernel.cu").read_text()


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


result = {
    "astra": "0.1.0", "task": "silu_and_mul", "outcome": "improved", "speedup": {"geomean": 2.0, "low": None, "high": None},
    "device": {"name": "NVIDIA H200", "model": "h200", "kind": "sim", "basis": "modelled"},
    "workloads": [{"dims": "rows=16 d=4096", "baseline_us": 4.0, "best_us": 2.0, "speedup": 2.0, "regime": "cold"}],
    "verification": {"cases": 32, "hidden": 8, "max_error": 0.5, "exact": "reference", "shadow_lost": None},
    "candidates": {"total": 2, "verdicts": {"passed": 1}}, "cost": {"usd": None, "calls": 0},
    "provenance": {"seed": 7, "source": "kernel.cu", "suite": "", "best": sha256(TASK / "kernel.cu"), "digest": "",
                   "files": {f: sha256(TASK / f) for f in ("task.yaml", "kernel.cu", "reference.cu")}},
}
lines = open(ROOT / "tests/fuzz/pool/judged").read()[1:].splitlines()
trial = json.loads(lines[0])["original"]
if kind == "result":
    (folder / "result").write_text(json.dumps(result))
else:
    db = sqlite3.connect(folder / "run")
    db.execute("PRAGMA page_size = 512")
    schema = (ROOT / "share/sql/schema.sql").read_text().replace("PRAGMA journal_mode = WAL;", "")
    db.executescript(schema)
    db.execute("PRAGMA user_version = 3")
    db.execute("INSERT INTO run VALUES (1, '0.1.0', 'silu_and_mul', ?, 'hash', '{\"device\": \"h200\"}', '2026-01-01T00:00:00Z', NULL,"
               " 'done', 1.5, ?)", (str(TASK), json.dumps(result)))
    for c in range(2):
        db.execute("INSERT INTO candidate VALUES (?, ?, ?, NULL, 'rules', 'n', 'r', 'p', '[]', ?, ?, 'passed', '', 0, 1.0, 1.0, ?, 0.5, 'latency', 'waits')",
                   (c, c - 1 if c else None, c, "void k();", f"h{c}", json.dumps(trial)))
    db.execute("INSERT INTO call VALUES (1, '1.planner', 'planner', 'replay', 'm', 'h', '{}', '{\"text\": \"x\"}', 0, '', 5, 1, 1, 5, 0,"
               " 0.1, 0.2)")
    db.execute("INSERT INTO strategy VALUES (1, '1.1', 1, 0, 'n', 'r', 'p', 1.5, 0.5, NULL, 1)")
    db.commit()
    db.close()
