#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py UNSKEW VERIFY [ANSWERS [MUTANTS [SEED]]] - proofs of simulated answers are accepted, false ones refused.

Every answer is verified as it is; no step of it may be false, nor may the simulated clocks contradict one. Then copies of it are made false one by one: a
bound or a rate that says more, another stamp, a step that rests on another, lines in another order, a narrower
band, a larger limit, a record with another stamp. Each has to be refused."""
import bisect, importlib.util, io, json, os, random, re, subprocess, sys, tempfile
from contextlib import redirect_stderr, redirect_stdout

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))

from part import part

SCENES = [
    ("pair", "--seconds 60 --rate 20", ""),
    ("nat", "--seconds 30 --rate 40 --nat --tso --gro --loss 1%", ""),
    ("ng", "--seconds 30 --rate 20 --format pcapng", ""),
    ("linear", "--seconds 300 --rate 5 --format table", "--model linear"),
    ("chain", "--seconds 120 --rate 5 --hosts 4 --topology chain --format table", ""),
    ("mesh", "--seconds 100 --rate 2 --hosts 4 --format table --wander-ppb 2", "--model wander=1"),
    ("lines", "--seconds 100 --rate 4 --hosts 3 --format table", "--model linear"),
    ("step", "--seconds 300 --rate 5 --hosts 3 --format table --step host1@150s:3ms", ""),
    ("segments", "--seconds 120 --rate 5 --hosts 3 --format table", "--model segments=20s"),
    ("auto", "--seconds 200 --rate 10 --hosts 3 --format table --step host2@90s:-2ms", "--model segments=auto"),
    ("island", "--seconds 60 --rate 5 --hosts 4 --topology islands --format table", ""),
    ("delay", "--seconds 60 --rate 20", "--min-delay 40us"),
    ("delays", "--seconds 100 --rate 5 --hosts 4 --topology star --format table", "--min-delay 30us"),
    ("back", "--seconds 40 --rate 40 --step host1@20s:-300ms", ""),
    ("backs", "--seconds 40 --rate 20 --hosts 3 --format pcapng --step host0@13s:-1s --step host2@27s:-2s", ""),
    ("ring", "--seconds 300 --rate 5 --hosts 6 --topology ring --format table --wander-ppb 0", "--model linear"),
    ("reference", "--seconds 60 --rate 8 --hosts 3 --dmin 20ms --tail 5ms --format table --step host0@30s:-60ms", ""),
    ("network", "--seconds 100 --rate 4 --hosts 9 --topology sparse --format table --wander-ppb 0", "--model linear"),
]


def verifier(path):
    spec = importlib.util.spec_from_file_location("verify", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(verify, files):
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        status = verify.main(files)
    return status, said.getvalue()


def make(unskew, folder, scene, seed):
    name, options, sync = scene
    subprocess.run([unskew, "simulate", "-o", folder, "--force", "--quiet", "--seed", str(seed), *options.split()], check=True)
    traces = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("host"))
    traces = traces or [os.path.join(folder, "messages.csv")]
    proof, clocks = os.path.join(folder, "proof"), os.path.join(folder, "clocks.json")
    status = subprocess.run([unskew, "sync", *traces, "-o", clocks, "--proof", proof, "-q", "--force", *sync.split()]).returncode
    assert status in (0, 3), f"{name} {seed}: sync ends with {status}"
    return proof, clocks, traces


# ---- what makes a proof false --------------------------------------------------------------

def more(line):
    """A bound or a rate says more by one unit."""
    w = line.split(" ")
    at = 2 if w[0] in ("slow", "fast") else 3
    w[at] = str(int(w[at]) + (-1 if w[0] in ("hi", "fast") else 1))
    return " ".join(w)


def digit(rng, text):
    at = rng.choice([i for i, c in enumerate(text) if c.isdigit()])
    return text[:at] + rng.choice([d for d in "0123456789" if d != text[at]]) + text[at + 1:]


def lines_of(lines, *words):
    return [i for i, l in enumerate(lines) if l.split(" ")[0] in words]


def recorded(clock, stamp):
    """A stamp as its record has it, and its epoch: in a proof those of a clock that was set back go on."""
    lifted, epoch = 0, 0
    for f in clock.get("set_back", []):
        more = int(f["from_ns"]) - int(f["to_ns"]) + 10**8
        if stamp < int(f["to_ns"]) + lifted + more:
            break
        lifted, epoch = lifted + more, epoch + 1
    return stamp - lifted, epoch


def mutate_more(rng, lines, clocks, trace):
    i = rng.choice(lines_of(lines, "lo", "hi", "slow", "fast"))
    lines[i] = more(lines[i])
    return "step"


def mutate_stamp(rng, lines, clocks, trace):
    i = rng.choice(lines_of(lines, "message"))
    w = lines[i].split(" ")
    at = rng.choice((2, 4))
    w[at] = digit(rng, w[at])
    lines[i] = " ".join(w)
    return "stamp"


def mutate_where(rng, lines, clocks, trace):
    """A message's bound at another stamp. (That of a cone or a chord may hold there, too.)"""
    i = rng.choice([i for i in lines_of(lines, "lo", "hi") if " message " in lines[i]])
    w = lines[i].split(" ")
    w[2] = digit(rng, w[2])
    lines[i] = " ".join(w)
    return "where"


def mutate_order(rng, lines, clocks, trace):
    facts = lines_of(lines, "lo", "hi", "slow", "fast")
    n = rng.choice([n for n, i in enumerate(facts) if lines[i].split(" ")[4] == "message"])
    a, b = facts[int(lines[facts[n]].split(" ")[6])], facts[n]
    lines[a], lines[b] = lines[b], lines[a]
    return "order"


def mutate_gone(rng, lines, clocks, trace):
    del lines[rng.choice(lines_of(lines, "message"))]
    return "gone"


def mutate_band(rng, lines, clocks, trace):
    """A knot of a stretch that is proved says that the truth is beyond the middle of the band."""
    facts, found = [lines[i].split(" ") for i in lines_of(lines, "lo", "hi", "slow", "fast")], []
    for band in (lines[i].split(" ") for i in lines_of(lines, "band")):
        first, last = facts[int(band[2])], facts[int(band[-1])]
        clock = clocks["clocks"][int(first[1])]
        (begin, epoch), (end, _) = recorded(clock, int(first[2])), recorded(clock, int(last[2]))
        found += [(k, band[1] + "_ns") for k in clock["knots"]
                  if k.get("epoch", 0) == epoch and begin <= int(k["local_ns"]) <= end]
    k, key = rng.choice(found)
    k[key] = str((int(k["lo_ns"]) + int(k["hi_ns"])) // 2)
    return "band"


def mutate_limit(rng, lines, clocks, trace):
    """Clocks that may wander more, or run apart by more, than steps took for granted."""
    if any(l.split(" ")[-3] in ("chord", "pair") for l in lines if l.count(" ") > 4) and rng.random() < 0.5:
        for c in clocks["clocks"]:
            c["wander"]["used_ppm"] = 2 * float(c["wander"]["used_ppm"]) + 1
    elif any(l.endswith(" skew") for l in lines):
        clocks["model"]["max_skew_ppm"] *= 2
    else:
        clocks["clocks"][rng.randrange(len(clocks["clocks"]))]["name"] += "?"
    return "limit"


def mutate_disturbed(rng, lines, clocks, trace):
    """The clock was disturbed where a chord or a rate took it to be calm."""
    facts = [lines[i].split(" ") for i in lines_of(lines, "lo", "hi", "slow", "fast")]
    calm = [f for f in facts if f[-3] in ("chord", "pair")]
    if not calm:
        return mutate_more(rng, lines, clocks, trace)
    f = rng.choice(calm)
    clock = clocks["clocks"][int(f[1])]
    (begin, epoch), (end, _) = (recorded(clock, x) for x in sorted(int(facts[int(n)][2]) for n in f[-2:]))
    clock["disturbed"].append({"from_ns": str(begin), "to_ns": str(end), "epoch": epoch})
    return "disturbed"


def mutate_delay(rng, lines, clocks, trace):
    """Messages may take less than steps took for granted."""
    named = [lines[i].split(" ") for i in lines_of(lines, "message")]
    pairs = {tuple(clocks["clocks"][int(w[k])]["name"] for k in (1, 3)) for w in named}
    used = [d for d in clocks["model"].get("min_delays", []) if (d["sender"], d["receiver"]) in pairs]
    if not used:
        return mutate_more(rng, lines, clocks, trace)
    d = rng.choice(used)
    d["ns"] = str(int(d["ns"]) // 2)
    return "delay"


def mutate_epoch(rng, lines, clocks, trace):
    """The clock was set back elsewhere."""
    told = [c for c in clocks["clocks"] if c.get("set_back")]
    if not told:
        return mutate_more(rng, lines, clocks, trace)
    fell = rng.choice(rng.choice(told)["set_back"])
    key = rng.choice(("from_ns", "to_ns"))
    fell[key] = str(int(fell[key]) + rng.choice((-1, 1)) * rng.randint(1, 10**9))
    return "epoch"


def mutate_sum(rng, lines, clocks, trace):
    """A sum without its largest message, or without what bounds the rest."""
    sums = [i for i in lines_of(lines, "lo", "hi") if " sum " in lines[i]]
    if not sums:
        return mutate_more(rng, lines, clocks, trace)
    i = rng.choice(sums)
    w = lines[i].split(" ")
    gone = [t for t in w[6:] if ":" not in t]
    if rng.random() < 0.5:
        gone = [max((t for t in w[6:] if ":" in t), key=lambda t: int(t.split(":")[1]))]
    lines[i] = " ".join(w[:6] + [t for t in w[6:] if t not in gone])
    return "sum"


def mutate_fell(rng, lines, clocks, trace):
    """An offset that bounds were taken over, as it fell, may have risen."""
    facts, over = [lines[i].split(" ") for i in lines_of(lines, "lo", "hi", "slow", "fast")], []
    for f in (f for f in facts if f[4:] and f[-1] == "skew"):
        clock = clocks["clocks"][int(f[1])]
        begin, end = (recorded(clock, x)[0] for x in sorted((int(f[2]), int(facts[int(f[5])][2]))))
        over += [j for j in clock["jumps"] if not clock.get("set_back") and begin < int(j["before_local_ns"]) and int(j["after_local_ns"]) < end]
    if not over:
        return mutate_more(rng, lines, clocks, trace)
    rng.choice(over)["size_hi_ns"] = rng.choice(("1", None))
    return "fell"


def mutate_flight(rng, lines, clocks, trace):
    """The reference may have been set back while a message was under way."""
    at = {k: c for k, c in enumerate(clocks["clocks"]) if c["name"] != c["reference"] and not c.get("set_back")}
    over = []
    for i in lines_of(lines, "message"):
        a, s, b, r = map(int, lines[i].split(" ")[1:])
        for k, x in ((a, s), (b, r)):
            if k in at and clocks["clocks"][a + b - k]["name"] == at[k]["reference"]:
                over += [(j, at[k]["reference"]) for j in at[k]["jumps"] if int(j["size_lo_ns"] or -1) < 0
                         and int(j["after_local_ns"]) < x < int(j["before_local_ns"])]
    if not over:
        return mutate_more(rng, lines, clocks, trace)
    jump, reference = rng.choice(over)
    jump["or"] = reference
    return "flight"


def mutate_record(rng, lines, clocks, trace):
    """A record that a message names has another stamp."""
    w = lines[rng.choice(lines_of(lines, "message"))].split(" ")
    name, stamp = clocks["clocks"][int(w[1])]["name"], recorded(clocks["clocks"][int(w[1])], int(w[2]))[0]
    for i, path in enumerate(trace):
        data = bytearray(open(path, "rb").read())
        if path.endswith(".csv"):
            at = data.find(b"%s,%s,%d,%s," % (name.encode(), clocks["clocks"][int(w[3])]["name"].encode(), stamp, w[4].encode()))
            assert at >= 0
            at = data.find(w[4].encode(), at) + len(w[4]) - 1
            data[at] = ord("0") + (data[at] - ord("0") + rng.randint(1, 9)) % 10
        elif os.path.basename(path).startswith(name + "."):
            raw = stamp.to_bytes(8, "little")
            raw = raw[4:] + raw[:4] if path.endswith("ng") else (stamp // 10**9).to_bytes(4, "little") + (stamp % 10**9).to_bytes(4, "little")
            at = data.find(raw)
            assert at >= 0, "the stamp is not in the file"
            data[at + 4] ^= 1 << rng.randint(0, 7)
        else:
            continue
        changed = path + ".changed" + (".csv" if path.endswith(".csv") else "")
        open(changed, "wb").write(data)
        trace[i] = changed
        return "record"


KINDS = [mutate_more, mutate_stamp, mutate_where, mutate_order, mutate_gone, mutate_band, mutate_limit, mutate_disturbed, mutate_record,
         mutate_delay, mutate_epoch, mutate_sum, mutate_fell, mutate_flight]


# ---- what is true --------------------------------------------------------------------------

def check_true(folder, clocks, proof):
    """Each bound encloses what the reference truly showed when its clock showed the stamp, at one of those moments."""
    spare = 1000  # ns: between its moments the truth is not a line
    truth = json.load(open(os.path.join(folder, "truth.json")))
    true, shown = list(map(int, truth["true_ns"])), {k: list(map(int, v)) for k, v in truth["clock_ns"].items()}
    on = lambda x, y, i, at: y[i] + (at - x[i]) * (y[i + 1] - y[i]) // (x[i + 1] - x[i])
    table, looked = json.load(open(clocks))["clocks"], 0
    for line in (l.split() for l in open(proof) if l[:3] in ("lo ", "hi ")):
        clock, stamp, at = table[int(line[1])], int(line[2]), int(line[3]) // 10**12
        if any(c.get("set_back") for c in (clock, *(c for c in table if c["name"] == clock["reference"]))):
            continue
        own, reference = shown[clock["name"]], shown[clock["reference"]]
        moments = (on(own, true, i, stamp) for i in range(len(own) - 1) if own[i] <= stamp <= own[i + 1] and own[i] < own[i + 1])
        offsets = [on(true, reference, min(bisect.bisect(true, t), len(true) - 1) - 1, t) - stamp for t in moments]
        looked += offsets != []
        assert not offsets or (at <= max(offsets) + spare if line[0] == "lo" else at >= min(offsets) - spare), f"{line} is not true: {offsets}"
    return looked


# ---- what is explained ---------------------------------------------------------------------

def ns(text):
    return int(text.replace(".", ""))


def records(verify, path):
    """Stamps by the number of the record, or of the message both of them."""
    with verify.opened(path) as f:
        if path.endswith(".csv"):
            rows = [line.decode().split(",") for line in f][1:]
            return [{int(r[2]), int(r[3])} for r in rows]
        magic = f.read(4)
        return [{r[0]} for r in (verify.pcapng if magic[:1] == b"\n" else verify.pcap)(f, magic)]


def check_explained(rng, unskew, verify, clocks, traces, options, told):
    """Each record has the number and stamp that are said, and the last step says no less than the band."""
    once = [c for c in json.load(open(clocks))["clocks"] if c["quality"] == "bounded" and not c.get("set_back")]
    if not once:
        return
    k = rng.choice(once)
    x = rng.randint(int(k["knots"][0]["local_ns"]), int(k["knots"][-1]["local_ns"]))
    said = subprocess.run([unskew, "sync", "-q", *traces, "--explain", f"{k['name']}:{x}", *options.split()],
                          capture_output=True, text=True, check=True).stdout
    held = {}
    for stamp, kind, number, path in re.findall(r"(?:sent a message|received) at (\S+) \((packet|message) #([\d,]+) of (.*?)\)", said):
        held[path] = held.get(path) or records(verify, path)
        assert ns(stamp) in held[path][int(number.replace(",", "")) - 1], f"{said}\n{number} of {path} is no record of {stamp}"
        told["explained: records"] = told.get("explained: records", 0) + 1
    parts = re.split(r"^When ", said, flags=re.M)[1:]
    assert len(parts) == 2, said
    for part, sign in zip(parts, (-1, 1)):
        at, bound = map(ns, re.findall(r"showed (?:at \w+ )?(\d+\.\d+)", part)[:2])
        steps = re.findall(r"when \S+ showed (\S+), \S+ showed at \w+ (\S+)\.$", part, re.M)
        last = steps[-1] if steps else None
        if last and ns(last[0]) == at:
            assert sign * ns(last[1]) <= sign * bound, said
            told["explained: bounds"] = told.get("explained: bounds", 0) + 1
        else:
            assert "Between (" in part or "do not prove" in part, said


def one_answer(unskew, verify, scene, seed, mutants, told):
    first, count = part(0, mutants)
    rng = random.Random(seed + first)
    with tempfile.TemporaryDirectory() as folder:
        proof, clocks, traces = make(unskew, folder, scene, seed)
        status, said = ask(verify, [proof, clocks, *traces])
        assert status in (0, 3), f"{scene[0]} {seed}: {said}"
        told[scene[0], status] = told.get((scene[0], status), 0) + 1
        told["true: steps"] = told.get("true: steps", 0) + check_true(folder, clocks, proof)
        check_explained(rng, unskew, verify, clocks, traces, scene[2], told)
        text, table = open(proof).read(), open(clocks).read()
        for n in range(first, first + count):
            lines, answer, changed = text.splitlines(), json.loads(table), list(traces)
            kind = KINDS[(seed + seed // len(SCENES) + n) % len(KINDS)](rng, lines, answer, changed)
            files = [os.path.join(folder, f) for f in ("proof.mutant", "clocks.mutant")]
            open(files[0], "w").write("\n".join(lines) + "\n")
            json.dump(answer, open(files[1], "w"))
            status, said = ask(verify, [*files, *changed])
            assert status == 1, f"{scene[0]} {seed}: a proof that is false ({kind}, mutant {n}) is not refused: {status} {said}"
            told[kind] = told.get(kind, 0) + 1


def main(unskew, path, answers=9, mutants=48, seed=1):
    verify, told = verifier(path), {}
    for n in range(int(answers)):
        one_answer(unskew, verify, SCENES[n % len(SCENES)], int(seed) + n, int(mutants), told)
    for what, n in sorted(told.items(), key=str):
        what = (what if ":" in what else f"refused: {what}") if isinstance(what, str) else f"accepted: {what[0]}, {'all' if not what[1] else 'not all'} proved"
        print(f"{n:6} {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
