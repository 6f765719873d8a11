"""The documents: blocks marked ```sh run are run, links lead somewhere, the index is whole, --help is not out of date."""

import glob
import os
import re
import subprocess

from harness import ASTRA, ROOT, VERBS, case, cases, environment, expect, main, read

PAGES = sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "*.md")) +
               glob.glob(os.path.join(ROOT, "docs", "*.md")) + glob.glob(os.path.join(ROOT, "docs", "results", "*.md")) +
               [os.path.join(ROOT, "src", "README.md")])


def prose(page):
    return re.sub(r"^```.*?^```", "", read(os.path.join(ROOT, page)), flags=re.M | re.S)


def anchors(page):
    """Of its headings, as GitHub makes them."""
    found = []
    for heading in re.findall(r"^#{1,6} (.*)$", prose(page), re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()).replace(" ", "-")
        times = found.count(name)
        found.append(f"{name}-{times}" if times else name)
    return found


def blocks():
    for page in PAGES:
        found = re.findall(r"^```sh run\n(.*?)^```", read(os.path.join(ROOT, page)), re.M | re.S)
        for number, text in enumerate(found, 1):
            yield f"{page} {number}", text


@cases(list(blocks()), every=0)
def block(folder, row):
    """From a folder that looks like the source tree after make, so that nothing is left behind in it."""
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(ASTRA, os.path.join(folder, "build", "astra"))
    for name in ("examples", "docs", "tests"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    done = subprocess.run(["bash", "-e", "-c", row[1]], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    expect(done.returncode == 0, f"status {done.returncode} of\n{row[1]}\n{done.stdout.decode('utf-8', 'replace')}")


@cases(PAGES)
def links(folder, page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(page)):
        if "://" in target:
            continue
        there = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        expect(os.path.exists(os.path.join(ROOT, there)), f"{page}: {target} is not there")
        expect(not anchor or not there.endswith(".md") or anchor in anchors(there), f"{page}: {target}#{anchor} is no heading")


@case
def pages_that_are_named_are_there(folder):
    """What sources, tests and tools say of a page in docs."""
    for where in ("src", "tests", "tools", "share"):
        for path in glob.glob(os.path.join(ROOT, where, "**", "*"), recursive=True):
            if path.endswith((".c", ".h", ".def", ".py", ".sh", ".cu", ".cuh", ".html", ".yaml", ".sql", ".build")):
                for page in re.findall(r"\bdocs/[\w/-]+\.md\b", read(path)):
                    expect(os.path.exists(os.path.join(ROOT, page)), f"{path}: {page} is not there")


@case
def index_lists_every_page(folder):
    index = read(os.path.join(ROOT, "docs", "README.md"))
    for page in PAGES:
        name = os.path.basename(page)
        if os.path.dirname(page) == "docs" and name != "README.md":
            expect(f"]({name})" in index, f"docs/README.md does not list {name}")


@case
def readme_has_no_gaps(folder):
    for page in PAGES:
        text = re.sub(r"`[^`\n]+`", "", read(os.path.join(ROOT, page)))  # a quoted mark is no gap
        for word in ("TODO", "TBD", "FIXME", "XXX", "lorem"):
            expect(word not in text, f"{page} has {word}")


def table_rows(page):
    """The cells of each line of a page's tables that begins with numbers."""
    for line in read(os.path.join(ROOT, page)).splitlines():
        if re.match(r"\| \d+(, \d+)* \|", line):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@case
def claims_of_integrity(folder):
    """Every row says what stops it, in which file of src, and which test shows it; these files and tests are there."""
    rows = {cells[0]: cells for cells in table_rows("docs/integrity.md") if len(cells) == 5}
    expect(list(rows) == [str(row) for row in range(1, 28)], f"rows {list(rows)}")
    for row, _, stops, where, shown in rows.values():
        expect(stops and where and shown, f"row {row} claims nothing")
        for test in re.findall(r"`([^`]+)`", shown):
            path, _, name = test.partition(": ")
            path = os.path.join(ROOT, path)
            expect(path.startswith(os.path.join(ROOT, "tests")) and os.path.exists(path), f"row {row}: {test} is not there")
            expect(not name or re.search(rf"^(static void|def) {name}\(", read(path), re.M), f"row {row}: no test {test}")
    for cells in table_rows("docs/integrity.md"):
        for path in re.findall(r"`([^`]+(?:\.c|/))`", cells[-1 if len(cells) == 3 else 3] if len(cells) < 6 else ""):
            expect(os.path.exists(os.path.join(ROOT, "src", path)), f"row {cells[0]}: src/{path} is not there")


@cases(VERBS)
def examples_of_help_parse(folder, verb):
    """Each command in a verb's --help names a verb and only options that it has."""
    text = subprocess.run([ASTRA, verb, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^  (--[a-z-]+)", text, re.M))
    commands = re.findall(r"^  astra (.*)$", text, re.M)
    expect(commands, "no example")
    for command in commands:
        expect(command.split()[0] == verb, command)
        for option in re.findall(r"--[a-z-]+", command.split(" -- ")[0]):
            expect(option in options, f"{option} in the example is no option of {verb}")


main()
