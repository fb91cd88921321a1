#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py BUILD N SEED [FOLDER...] - how many wrong lines do the tests notice?

N lines of the sources are drawn, each changed in one place in a way that could change an answer, built in a
copy of the tree, and tested. What no test notices is printed as a diff: a test is missing there, or the
change says the same in other words, which a reader has to tell. The tests end at the first failure, those
that need the fewest programs built first. Two minutes each where nothing is noticed; nothing of the tree
itself is touched.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

FOLDERS = ["num", "read", "ctf", "protocol", "match", "fit", "graph", "flow", "judge", "audit", "history", "write", "clock"]

# The first needs the least built.
SUITES = ["answers", "golden", "fuzz", "unit", "schema", "mpi", "sim"]

# What to find, and what to put there: each a slip that compiles.
SLIPS = [
    (r" < ", [" <= ", " > "]),
    (r" <= ", [" < "]),
    (r" > ", [" >= ", " < "]),
    (r" >= ", [" > "]),
    (r" == ", [" != "]),
    (r" != ", [" == "]),
    (r" && ", [" || "]),
    (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]),
    (r" - ", [" + "]),
    (r"\+\+", ["--"]),
    (r" \+= ", [" -= ", " = "]),
    (r" -= ", [" += "]),
    (r"\b0\b", ["1"]),
    (r"\b1\b", ["0", "2"]),
    (r"\b2\b", ["1", "3"]),
    (r"\btrue\b", ["false"]),
    (r"\bfalse\b", ["true"]),
    (r"usk_floor_div", ["usk_ceil_div"]),
    (r"usk_ceil_div", ["usk_floor_div"]),
    (r"(?<=[(,&|] )!(?=\w)", [""]),
    (r"\bcontinue;", [";"]),
    (r"^\t+(?!return|break|case|goto|struct|const|static|int|bool|size_t|u?int\d)[\w>.\[\]*()-]+ = .*;$", [";"]),
    (r"^\t+usk_[\w]+\([^{]*\);$", [";"]),
]

# Lines that no answer hangs on: memory, words, tables of names, what the compiler is told.
DULL = re.compile(r"^\s*(/?\*|#|//|free\(|assert|.*(usk_fail|usk_note|usk_format|printf|usk_alloc|usk_grow|"
                  r"usk_room|sizeof|progress|_free\(|usk_\w+_stop\(|memset|enum |for \(size_t \w+ = 0, ))")

# Of these, nor any on that they go on.
WORDS = re.compile(r"^(?!\s*(/?\*|#|//)).*(usk_fail|usk_note|usk_format|printf|progress)\(")

# The larger or smaller of two, or a size without its sign: with or without equality they are the same.
TERM = r"[\w.>\[\]*&-]+"
EITHER = re.compile(rf"(?:^|[=(,?:|&]|return) *(?:({TERM}) [<>]=? ({TERM}) \? (?:\1 : \2|\2 : \1)|"
                    rf"({TERM}) [<>]=? 0 \? (?:-\3 : \3|\3 : -\3))(?=[;,)]|$)")


def says_the_same(code, at, put):
    """Is only equality another, where both sides of it give one value?"""
    strict = at.group().replace("=", "") == put.replace("=", "") and put.strip() in ("<", "<=", ">", ">=")
    return strict and any(m.start() < at.start() < m.end() for m in EITHER.finditer(code))


def places(tree, folders):
    """All changes there are: file, line number, the line that replaces it."""
    out = []
    for folder in folders:
        for file in sorted((tree / "src" / folder).glob("*.c")):
            inside = goes_on = False
            for number, line in enumerate(file.read_text().split("\n")):
                inside = line.startswith("{") or (inside and not line.startswith("}"))
                dull = goes_on or DULL.match(line)
                goes_on = (goes_on or WORDS.match(line)) and not line.endswith((";", "{", "}"))
                if not inside or dull:
                    continue
                code = line.split(" /*")[0]
                for find, puts in SLIPS:
                    for at in re.finditer(find, code):
                        out += [(file.relative_to(tree), number, code[:at.start()] + put + code[at.end():])
                                for put in puts if not says_the_same(code, at, put)]
    return out


def run(command, cwd, seconds):
    """Its exit status; None: it took too long, and all that it began is ended."""
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def first_failed(tree, suite):
    """Which of its tests fails first, on what it needs built; None: none does."""
    if run(["meson", "test", "-C", "build", "--suite", suite, "--no-suite", "hosts", "--maxfail", "1", "-t", "3"],
           tree, 1800) is None:
        return "time"
    log = (tree / "build/meson-logs/testlog.json").read_text(errors="replace")
    failed = [row["name"] for row in map(json.loads, log.splitlines()) if row["result"] in ("FAIL", "TIMEOUT", "ERROR")]
    return failed[0] if failed else None


def noticed(tree):
    """Which test fails first: with an eighth of the random cases, as most show it at once, else with all; None: none does."""
    for cases, suites in [("/8", SUITES), ("", ["answers", "unit", "sim"])]:
        os.environ["USK_CASES"] = cases
        for suite in suites:
            failed = first_failed(tree, suite)
            if failed:
                return failed
    return None


def main():
    _, build, count, seed, *folders = sys.argv
    tree = pathlib.Path(tempfile.mkdtemp(prefix="unskew-mutants-")) / "tree"
    files = subprocess.run(["git", "ls-files"], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    for name in filter(None, files):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, tree / name)
    options = subprocess.run(["meson", "introspect", build, "--buildoptions"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    data = re.search(r'"name": "recorded_data", "value": "([^"]*)"', options)
    recorded = pathlib.Path(build, "..", data.group(1) if data else "").resolve()
    subprocess.run(["meson", "setup", "build", "-Dtests=enabled", "--buildtype=release",
                    f"-Drecorded_data={recorded}"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", "build"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    failed = noticed(tree)
    if failed:
        sys.exit(f"mutants: {failed} fails without any change")
    rng = random.Random(int(seed))
    lines = {}
    for place in places(tree, folders or FOLDERS):
        lines.setdefault(place[:2], []).append(place)
    drawn = rng.sample(sorted(lines), min(int(count), len(lines)))
    print(f"seed {seed}: {len(drawn)} of {len(lines)} lines")
    counts = {"noticed": 0, "not noticed": 0, "not built": 0}
    for key in drawn:
        file, number, line = rng.choice(lines[key])
        was = (tree / file).read_text()
        text = was.split("\n")
        old, text[number] = text[number], line
        (tree / file).write_text("\n".join(text))
        status = run(["ninja", "-C", "build", "unskew"], tree, 1200)
        by = noticed(tree) if status == 0 else "compiler"
        what = "not built" if by == "compiler" else "noticed" if by else "not noticed"
        counts[what] += 1
        print(f"{what}{f' by {by}' if by else ''}: {file}:{number + 1}", flush=True)
        if not by:
            print(f"-{old}\n+{line}", flush=True)
        (tree / file).write_text(was)
    all_built = counts["noticed"] + counts["not noticed"]
    print(f"{counts['noticed']} of {all_built} noticed, {counts['not built']} not built")
    shutil.rmtree(tree.parent)


main()
