"""The command line itself: help, version, strangers, exit statuses."""

import json
import os
import re
import shutil
import subprocess

from harness import ASTRA, ROOT, VERBS, astra, case, cases, environment, expect, main, on_terminal, said, skip, small_task, write


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


@cases(["check", "profile", "show", "diff", "resume", "doctor"])
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
def completion_knows_every_option(folder):
    """bash: verbs, options, values, runs; what is written is a script that bash and zsh take."""
    os.makedirs(os.path.join(folder, "astra-runs", "softmax-1"))
    script = said(astra(folder, "completion", "bash"), 0).out
    asked = [(["optimize"], 1, "opt"), (["show", "--cal"], 2, "--cal"), (["show", "soft"], 2, "soft"),
             (["bench", "--device", "sim:h2"], 3, "sim:h2"), (["optimize", "--color", "n"], 3, "n")]
    expected = ["optimize", "--calls", "softmax-1", "sim:h200", "never"]
    for (words, at, word), value in zip(asked, expected):
        words = " ".join(["astra", *words[:at - 1], word])
        line = f'source /dev/stdin; COMP_WORDS=({words}); COMP_CWORD={at}; _astra; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", line], cwd=folder, input=script.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        expect(done.stdout.decode().split() == [value], f"{words}: {done.stdout} {done.stderr}")
    zsh = said(astra(folder, "completion", "zsh"), 0).out
    expect(zsh.startswith("#compdef astra\n") and "'--fail-under=[" in zsh, zsh[:300])
    if shutil.which("zsh"):
        path = write(os.path.join(folder, "_astra"), zsh)
        subprocess.run(["zsh", "-n", path], check=True)
        line = f"autoload -Uz compinit; compinit -D -u; source {path}; whence -w _astra"
        done = subprocess.run(["zsh", "-f", "-c", line], cwd=folder, env=environment(HOME=folder), capture_output=True, text=True, check=False)
        expect(done.stdout == "_astra: function\n" and not done.stderr, done)
    said(astra(folder, "completion", "fish"), 2, "bash and zsh")


@case
def manual_page(folder):
    page = said(astra(folder, "man"), 0).out
    for verb in VERBS:
        expect(f'.SS "astra {verb} ' in page, f"{verb} is not in the manual")
    expect("\\fB\\-\\-fail\\-under\\fR \\fIX\\fR" in page, "--fail-under is not in the manual")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-cbou"], input=page.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True)
        expect(not done.stderr and b"EXIT STATUS" in done.stdout, done.stderr)


@case
def help_is_100_columns_wide(folder):
    for verb in VERBS:
        long = [line for line in astra(folder, verb, "--help").out.splitlines() if len(line) > 100]
        expect(not [line for line in long if " " in line.strip()[:60]], f"{verb}: {long}")


@case
def colours_when_asked_for(folder):
    write(os.path.join(folder, "task", "task.yaml"), "nme: x\n")
    for words, expected in (("auto", False), ("never", False), ("always", True)):
        done = astra(folder, "check", "task", "--color", words)
        expect(("\033[1mastra: " in done.err) == expected, done.err)
    said(astra(folder, "check", "task", "--color=blue"), 2, "blue", "auto, always or never")


@case
def an_error_has_its_line_and_a_caret(folder):
    write(os.path.join(folder, "task", "task.yaml"), "name: x\nsuorce: y\n")
    done = said(astra(folder, "check", "task"), 2, "task.yaml:2:1: unknown key suorce: did you mean source")
    expect("\n    suorce: y\n    ^\n" in done.err, done.err)


@case
def doctor(folder):
    done = said(astra(folder, "doctor"), 0)
    expect("NVRTC" in done.out and "sim:h200" in done.out, done.out)
    facts = json.loads(astra(folder, "doctor", "--json").out)
    expect(facts["ready"] is True and "h200" in facts["devices"], facts)


@case
def built_without_device_files(folder):
    """`bare` is astra without share/: doctor says so and what to do, and whoever needs a device is told the same."""
    bare = os.path.join(os.path.dirname(ASTRA), "tests", "bare")
    if not os.path.exists(bare):
        skip("no tests/bare was built")
    cure = "built without its device files.*rm -rf build && make"
    done = astra(folder, "doctor", program=bare)
    expect(done.returncode == 1 and re.search(f"simulated devices:\n  missing: .*{cure}", done.out) and "sim:" not in done.out.split("simulated devices:")[1], done)
    done = astra(folder, "doctor", "--json", program=bare)
    facts = json.loads(done.out)
    expect(done.returncode == 1 and facts["ready"] is False and facts["devices"] == [], facts)
    small_task(folder)
    for device in ("auto", "sim", "sim:h200"):
        done = said(astra(folder, "check", "task", "--device", device, program=bare), 1, cure)
        expect("device: " not in done.err, f"a device that is not there is named: {done.err}")


@case
def lines_fit_the_terminal(folder):
    """What goes to a terminal is wrapped to its width between words, and says the same; a pipe gets whole lines."""
    for verb, columns in (("doctor", 60), ("doctor", 90)):
        whole, shown = astra(folder, verb).out, on_terminal(folder, columns, verb)
        expect(max(map(len, whole.splitlines())) > columns, "nothing was too long")
        expect(shown.split() == whole.split(), f"{shown!r} says something else than {whole!r}")
        for line in shown.splitlines():
            expect(len(line) <= columns or " " not in line.strip(), f"{len(line)} columns of {columns}: {line!r}")


main()
