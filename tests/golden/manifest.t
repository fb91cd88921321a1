# Traces that only Perfetto reads: one offset for each, how far that is off, all in one archive.
# needs: python3
$ (echo sender,receiver,sent_ns,received_ns,bytes; for t in 0 1 2 3 4; do echo a,b,${t}000000000,${t}500${t}40000,7; echo b,a,${t}500${t}80000,${t}000120000,8; done) >t.csv; unskew sync -q t.csv -o clocks.json; mkdir x; echo >x/a.pftrace; echo >b.pftrace
$ unskew apply clocks.json x/a.pftrace b=b.pftrace --perfetto-manifest m.json; cat m.json
{
 "perfetto_manifest": {
  "version": 1,
  "trace_time": {
   "clock": "REALTIME",
   "file": "a.pftrace"
  },
  "files": [
   {
    "path": "a.pftrace",
    "machine": {
     "name": "a"
    }
   },
   {
    "path": "b.pftrace",
    "machine": {
     "name": "b"
    },
    "clocks": {
     "clock": "REALTIME",
     "sync_to": {
      "file": "a.pftrace",
      "clock": "REALTIME"
     },
     "offset_ns": -500190004
    }
   }
  ],
  "attributes": {
   "unskew.version": "0.1.0",
   "unskew.residual_ns.b": 200002
  }
 }
}
! Wrote m.json.
! unskew: note: b.pftrace: one offset for the whole trace is wrong by up to 200002 ns, in addition to the error bound
$ unskew apply -q clocks.json x/a.pftrace b.pftrace --perfetto-manifest chrome.json --perfetto-clock file; grep -c clock chrome.json; grep -A 5 sync_to chrome.json
1
     "sync_to": {
      "file": "a.pftrace"
     },
     "offset_ns": -500190004
    }
   }
# The reference has no trace: time counts from the first file's.
$ cp b.pftrace c.pftrace; unskew apply -q clocks.json b=c.pftrace b.pftrace --perfetto-manifest b.json --perfetto-clock BOOTTIME; python3 -c 'import json; d = json.load(open("b.json"))["perfetto_manifest"]; print(d["trace_time"], d["files"][1]["clocks"])'
{'clock': 'BOOTTIME', 'file': 'c.pftrace'} {'clock': 'BOOTTIME', 'sync_to': {'file': 'c.pftrace', 'clock': 'BOOTTIME'}, 'offset_ns': 0}
# What it cannot say, it does not.
$ unskew apply clocks.json x/a.pftrace b.pftrace --perfetto-manifest r.json --residual 10us
! unskew: b.pftrace: one offset for clock b is off by up to 200002 ns, more than --residual; --timeline is exact
? 1
$ unskew apply clocks.json x/a.pftrace b.pftrace --perfetto-manifest r.json --residual 1ms
! Wrote r.json.
! unskew: note: b.pftrace: one offset for the whole trace is wrong by up to 200002 ns, in addition to the error bound
$ unskew apply clocks.json z.pftrace --perfetto-manifest z.json
! unskew: z.pftrace: No such file or directory
? 1
$ cp b.pftrace z.pftrace; unskew apply clocks.json z.pftrace --perfetto-manifest z.json
! unskew: z.pftrace: it is unknown which clock stamped it; say so with NAME=z.pftrace
? 1
$ cp b.pftrace x/b.pftrace; unskew apply clocks.json b.pftrace x/b.pftrace --perfetto-manifest z.json
! unskew: b.pftrace and x/b.pftrace would have one name in an archive; rename one
? 2
$ unskew apply clocks.json b.pftrace --perfetto-manifest b.pftrace --force
! unskew: b.pftrace: is an input, so it cannot be an output too; write to another
? 2
$ unskew apply clocks.json b.pftrace --perfetto-manifest z.json --perfetto-clock TAI
! unskew: --perfetto-clock: "TAI" is not known; choose from: REALTIME, REALTIME_COARSE, MONOTONIC, MONOTONIC_COARSE, MONOTONIC_RAW, BOOTTIME, file
? 2
$ (echo sender,receiver,sent_ns,received_ns; echo a,b,100000,130000; echo a,b,1000200000,1000210000) >one.csv; unskew sync -q one.csv -o one.json
? 3
$ unskew apply one.json x/a.pftrace b.pftrace --perfetto-manifest z.json; ls z.json
! unskew: b.pftrace: clock b is one-sided, so its stamps cannot be corrected; --allow-unbounded leaves them as recorded
! ls: cannot access 'z.json': No such file or directory
? 2
# Clocks that nothing ties together.
$ (cat t.csv; sed '1d; s/a,b/c,d/; s/b,a/d,c/' t.csv) >two.csv; unskew sync -q two.csv -o two.json; cp b.pftrace d.pftrace; unskew apply two.json b.pftrace d.pftrace --perfetto-manifest two_m.json; grep -c sync_to two_m.json
0
! Wrote two_m.json.
! unskew: note: d.pftrace: no chain of messages connects clock d with that of b.pftrace: they cannot be put on one time
? 1
