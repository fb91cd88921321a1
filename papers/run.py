#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py BUILD [OUT] [PAPER...] - the papers' tables, made again on simulated traces
   run.py --quick UNSKEW PAPER   - a few seconds of it: does what the papers claim come out?

The first form writes a page per paper and its figures to OUT (doc/papers). The same seeds give the
same bytes, except where a page says that a real running time was measured.
"""
import os, shutil, sys, tempfile, time

sys.dont_write_bytecode = True  # the source tree stays as it is

import ashton, clement, kong, loeser, poirier
from lab import Failed, Lab
from page import Page

PAPERS = {"ashton": ashton, "clement": clement, "kong": kong, "loeser": loeser,
          "poirier": poirier}


def in_scratch(unskew, work):
    scratch = tempfile.mkdtemp(prefix="unskew-papers-")
    try:
        return work(Lab(unskew, scratch, min(2, os.cpu_count() or 1)))
    except (Failed, RuntimeError) as why:
        sys.exit("papers: %s" % why)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def quick(unskew, name):
    """Every claim in a line; status 1 if one does not hold."""

    def check(lab):
        wrong = 0
        for claim, holds in PAPERS[name].claims(lab):
            print("%s: %s" % ("holds" if holds else "DOES NOT HOLD", claim), flush=True)
            wrong += not holds
        return 1 if wrong else 0

    return in_scratch(unskew, check)


def index(unskew, out):
    """README.md: the pages, and what the papers claim."""
    page = Page(out, "README", "The papers' tables, made again")
    page.text("""`make papers` makes these pages: each paper's workload is simulated, and our figure
              stands beside the paper's, with a sentence on the differences. What computed ours is in
              the table below: the program, run as a user would run it, or what is named there.
              Seeds are stated; the same seeds give the same bytes, but for the running times, which
              say that they were measured. The scripts are in `papers/`.""")
    page.table(["page", "what it has", "what computed it"], [
        ("[Ashton 1995](ashton.md)", "tables 1 to 7, running times, messages and duration apart",
         "`compare`; figures: the script, by the lines that it prints"),
        ("[Clement 2009](clement.md)", "tables 3, 4, 6 and 7",
         "`compare`, `sync`; errors in table 7: the script, from the truth"),
        ("[Kong 1986](kong.md)", "figures 1 to 17, equations 4 and 5",
         "the test program `paper_clocks`, on a simulated bus; figures 16 and 17: `paper_real`, real processes"),
        ("[Loeser 2003](loeser.md)", "sections 3.2 to 4.3",
         "the test program `paper_clocks`, on a simulated cable"),
        ("[Poirier 2010](poirier.md)", "tables 1 to 6, figures 5 to 9",
         "`compare`, `sync`, `calibrate`; table 5's share of too fast messages, and points in "
         "figures: the script, by the lines that `compare` prints; figure 9: `bench_fit` too")])
    page.text("""What the papers claim, held against small versions of the same traces by `make check`
              (`papers/run.py --quick`), on other seeds:""")
    for name, paper in PAPERS.items():
        page.heading(paper.TITLE)
        page.points(claim if holds else "does not hold: " + claim
                    for claim, holds in in_scratch(unskew, lambda lab: list(paper.claims(lab))))
    page.write()


def pages(build, out, names):
    os.makedirs(out, exist_ok=True)
    unskew = os.path.join(build, "unskew")
    for name in names:
        begun = time.monotonic()
        page = Page(out, name, PAPERS[name].TITLE)
        in_scratch(unskew, lambda lab: PAPERS[name].write(lab, page, build))
        page.write()
        print("%s/%s.md: %.0f s" % (out, name, time.monotonic() - begun), flush=True)
    index(unskew, out)
    return 0


def main(args):
    if len(args) == 3 and args[0] == "--quick" and args[2] in PAPERS:
        return quick(args[1], args[2])
    if not args or args[0].startswith("-") or not set(args[2:]) <= set(PAPERS):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return pages(args[0], args[1] if len(args) > 1 else "doc/papers", args[2:] or list(PAPERS))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
