"""The verb sanitize: the simulator's checks on one version, as text, JSON, SARIF and JUnit."""

import json
import os
import shutil
import xml.etree.ElementTree as xml

from harness import ROOT, astra, case, expect, main, read, said, write

TASK = os.path.join(ROOT, "examples/silu_and_mul")
RACE = os.path.join(ROOT, "tests/bugs/silu_and_mul/warps_race.cu")


@case
def clean(folder):
    done = said(astra(folder, "sanitize", TASK), 0)
    expect("no finding in" in done.out and "not checked" not in done.out, done.out)


@case
def a_file_in_its_task(folder):
    done = said(astra(folder, "sanitize", os.path.join(TASK, "production.cu"), "--json"), 0)
    found = json.loads(done.out)
    expect(found["clean"] and not found["findings"] and found["file"].endswith("production.cu"), done.out)
    expect(all(c["verdict"] == "passed" for c in found["cases"]), done.out)


@case
def a_race_in_all_forms(folder):
    shutil.copy(RACE, os.path.join(folder, "a race.cu"))
    done = said(astra(folder, "sanitize", TASK, "a race.cu", "--sarif", "s.json", "--junit", "j.xml"), 4)
    expect("a race.cu:13: race-shared: " in done.out and "s[threadIdx.x] = x[d + i];" in done.out, done.out)
    results = json.loads(read(os.path.join(folder, "s.json")))["runs"][0]["results"]
    places = [(r["ruleId"], r["locations"][0]["physicalLocation"]) for r in results]
    expect(len(set(map(str, places))) == len(places), "a finding stands twice")
    for rule, place in places:
        expect(rule == "race-shared" and place["artifactLocation"]["uri"] == "a%20race.cu", str(place))
    expect({p["region"]["startLine"] for _, p in places} == {13, 17}, str(places))
    suite = xml.parse(os.path.join(folder, "j.xml")).getroot()
    failures = [c for c in suite if c.find("failure") is not None]
    expect(len(suite) == int(suite.get("tests")) and len(failures) == int(suite.get("failures")) > 0, suite.attrib)
    found = json.loads(astra(folder, "sanitize", TASK, "a race.cu", "--json").out)
    expect(sum(f["cases"] for f in found["findings"]) >= len(failures) and not found["clean"], str(found["findings"]))


@case
def an_original_that_is_not_sound(folder):
    """check refuses such a task; sanitize says what is wrong with it."""
    shutil.copytree(TASK, os.path.join(folder, "t"))
    shutil.copy(RACE, os.path.join(folder, "t/kernel.cu"))
    said(astra(folder, "check", "t"), 2)
    said(astra(folder, "sanitize", "t"), 4)


@case
def what_cannot_be_launched_is_found(folder):
    text = read(os.path.join(TASK, "kernel.cu"))
    expect("cudaMemset" not in text, "the example has changed")
    at = text.index("{", text.index('extern "C"')) + 1
    write(os.path.join(folder, "k.cu"), text[:at] + "\n    cudaMemsetAsync(out, 0, 1 << 30, stream);" + text[at:])
    done = said(astra(folder, "sanitize", TASK, "k.cu"), 4)
    expect("goes beyond its buffer" in done.out, done.out)


@case
def what_does_not_compile_is_an_error(folder):
    write(os.path.join(folder, "k.cu"), read(os.path.join(TASK, "kernel.cu")).replace("int", "itn", 1))
    said(astra(folder, "sanitize", TASK, "k.cu"), 2, "k.cu:")


@case
def without_a_task(folder):
    shutil.copy(RACE, os.path.join(folder, "k.cu"))
    said(astra(folder, "sanitize", "k.cu"), 2, "no task.yaml beside it", "docs/task.md")
    said(astra(folder, "sanitize", "nowhere"), 2, "nowhere")
    said(astra(folder, "sanitize", TASK, "nowhere.cu"), 2, "nowhere.cu")


main()
