"""The command line itself: help, version, strangers, exit statuses."""

import json
import os

from harness import ROOT, VERBS, astra, case, cases, expect, main, said


@case
def version(folder):
    done = said(astra(folder, "--version"), 0)
    expect(done.out.startswith("astra ") and done.out.count("\n") == 1 and not done.err, done.out)


@case
def help_lists_every_verb(folder):
    done = said(astra(folder, "--help"), 0)
    for verb in VERBS:
        expect(f"\n  {verb} " in done.out, f"{verb} is not in --help")
    for status in ("0 ", "1 ", "2 ", "3 ", "130 "):
        expect(status in done.out.split("exit status")[1], f"exit status {status} is not explained")


@cases(VERBS)
def help_of(folder, verb):
    done = said(astra(folder, verb, "--help"), 0)
    expect(done.out.startswith(f"usage: astra {verb}"), done.out)
    expect(f"\n  astra {verb}" in done.out, "no example")
    expect("--help" in done.out and not done.err, done.err)
    expect(astra(folder, "help", verb).out == done.out, "`astra help VERB` says something else")


@case
def help_of_a_stranger(folder):
    said(astra(folder, "help", "optimise"), 2, "did you mean optimize")


@case
def help_wins_over_what_is_missing(folder):
    said(astra(folder, "optimize", "nowhere", "--help"), 0)


@case
def no_verb_is_a_usage_error(folder):
    done = astra(folder)
    expect(done.returncode == 2 and "usage: astra" in done.err and not done.out, done.err)


@cases([("optimise", "optimize"), ("chekc", "check"), ("reume", "resume"), ("profil", "profile")])
def unknown_verb(folder, pair):
    said(astra(folder, pair[0]), 2, pair[0], f"did you mean {pair[1]}", "--help")


@case
def unknown_verb_far_from_all(folder):
    done = said(astra(folder, "zzzzqqqq"), 2, "zzzzqqqq")
    expect("did you mean" not in done.err, done.err)


@cases([("--round", "--rounds"), ("--sed", "--seed"), ("--jsno", "--json"), ("--budget-tim", "--budget-time")])
def unknown_option(folder, pair):
    said(astra(folder, "optimize", "x", pair[0], "3"), 2, pair[0], f"did you mean {pair[1]}")


@case
def option_of_another_verb(folder):
    said(astra(folder, "runs", "--rounds", "3"), 2, "--rounds")


@cases(["--rounds", "--seed", "--out", "--device", "--budget-time"])
def option_without_its_value(folder, option):
    said(astra(folder, "optimize", "x", option), 2, option)


@cases([
    ("rounds 0", "--rounds", "0"), ("rounds -1", "--rounds", "-1"), ("rounds word", "--rounds", "many"),
    ("rounds 1.5", "--rounds", "1.5"), ("rounds too many", "--rounds", "99999999999999999999"),
    ("rounds empty", "--rounds", ""), ("seed -1", "--seed", "-1"), ("time unit", "--budget-time", "10x"),
    ("time zero", "--budget-time", "0"), ("time negative", "--budget-time", "-5s"), ("jobs 0", "--jobs", "0"),
])
def bad_value(folder, row):
    said(astra(folder, "optimize", "x", row[1], row[2]), 2, row[1], "not ")


@case
def flag_takes_no_value(folder):
    said(astra(folder, "doctor", "--json=yes"), 2, "--json")


@case
def value_after_equals_sign(folder):
    said(astra(folder, "optimize", "x", "--rounds=none"), 2, "--rounds", "none")


@cases(["optimize", "check", "bench", "profile", "show", "diff", "resume"])
def word_missing(folder, verb):
    said(astra(folder, verb), 2, verb)


@cases(["optimize", "check", "bench", "profile", "show", "diff", "resume", "doctor"])
def word_too_many(folder, verb):
    said(astra(folder, verb, *"abcd"), 2, "too much|takes")


@case
def unknown_device(folder):
    said(astra(folder, "check", os.path.join(ROOT, "examples/softmax"), "--device", "sim:h2000"), 2, "h2000", "sim:h200")
    said(astra(folder, "check", os.path.join(ROOT, "examples/softmax"), "--device", "tpu"), 2, "tpu", "sim")


@case
def unknown_agents(folder):
    said(astra(folder, "optimize", os.path.join(ROOT, "examples/softmax"), "--agents", "oracle"), 2, "oracle", "rules")


@cases(["show", "diff", "resume"])
def unknown_run(folder, verb):
    said(astra(folder, verb, "no-such-run"), 2, "no-such-run", "astra runs")


@case
def runs_where_there_are_none(folder):
    done = said(astra(folder, "runs"), 0)
    expect("no runs" in done.out and "optimize" in done.out, done.out)
    expect(json.loads(astra(folder, "runs", "--json").out) == [], "not an empty list")
    said(astra(folder, "runs", "nowhere"), 2, "nowhere")


@case
def doctor(folder):
    done = said(astra(folder, "doctor"), 0)
    expect("NVRTC" in done.out and "sim:h200" in done.out, done.out)
    facts = json.loads(astra(folder, "doctor", "--json").out)
    expect(facts["ready"] is True and "h200" in facts["devices"], facts)


main()
