#!/bin/sh
# SPDX-License-Identifier: MIT
# summary.sh TESTLOG... - reasons of skips and failures, then "N passed, N failed, N skipped" over all logs
#
# Status 1 if a test failed, or if none ran.
set -eu
exec python3 - "$@" <<'END'
import json, sys

passed = failed = skipped = 0
for path in sys.argv[1:]:
    try:
        lines = open(path).read().splitlines()
    except OSError:
        continue
    for line in lines:
        test = json.loads(line)
        result = test["result"]
        said = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
        said = [l.strip() for l in said.splitlines() if l.strip()]
        if result in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif result == "SKIP":
            skipped += 1
            print("skipped: %s: %s" % (test["name"], said[-1] if said else "no reason given"))
        else:
            failed += 1
            print("failed: %s (%s)" % (test["name"], result))
            for line in said[-5:]:
                print("    " + line[:400])
print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
sys.exit(1 if failed or not passed else 0)
END
