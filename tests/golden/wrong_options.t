# Every wrong value: status 2, and the sentence says what would be right.
$ unskew sync --max-skew 5 a b
! unskew: --max-skew: no such option; did you mean --max-skew-ppm?
? 2
$ unskew sync --max-skew-ppm 1e6 a b
! unskew: --max-skew-ppm: "1e6" is not a number of ppm
? 2
$ unskew sync --max-skew-ppm 200000 a b
! unskew: --max-skew-ppm: 200000 is more than 100000
? 2
$ unskew sync --model wobble a b
! unskew: --model: there is no model "wobble"; "linear" is one
? 2
$ unskew sync --method midle a b
! unskew: --method: "midle" is not known; did you mean middle?
? 2
$ unskew sync --method nonsense a b 2>&1 | cut -d , -f 1-3
unskew: --method: "nonsense" is not known; choose from: middle, hull, support
$ unskew sync --from yesterday a b
! unskew: --from: "yesterday" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 2
$ unskew sync --from 2023-11-14T22:13:20,5Z a b
! unskew: --from: "2023-11-14T22:13:20,5Z": write the fraction with a point, as 22:13:20.5Z
? 2
$ unskew sync --max-outliers -1 a b
! unskew: --max-outliers: -1 is less than 0
? 2
$ unskew sync --resolution host0 a b
! unskew: --resolution: "host0" should be NAME=DURATION
? 2
$ unskew sync --resolution host0=soon a b
! unskew: --resolution host0=soon: "soon" is not a duration such as 30min or 39us
? 2
$ unskew sync --from 2s --to 1s a b
! unskew: --from lies after --to: no events are left between them
? 2
$ unskew sync -x a b
! unskew: -x: no such option; see `unskew help sync`
? 2
$ unskew sync -json a b
! unskew: -json: no such option; did you mean --json?
? 2
$ unskew sync --json=yes a b
! unskew: --json takes no value
? 2
$ unskew sync -o
! unskew: -o needs a value: -o FILE
? 2
$ unskew sync
! unskew: sync needs [NAME=]TRACE...; see `unskew help sync`
? 2
$ unskew help snyc
! unskew: snyc: no such command; did you mean sync?
? 2
# An anchor: two clocks, two times, and by how much they may be off.
$ unskew sync --anchor a@1s=b@2s a b
! unskew: --anchor a@1s=b@2s: should be A@TIME=B@TIME±D
? 2
$ unskew sync --anchor a@1s+-1ms a b
! unskew: --anchor a@1s+-1ms: should be A@TIME=B@TIME±D
? 2
$ unskew sync --anchor a@soon=b@2s+-1ms a b
! unskew: --anchor a@soon=b@2s+-1ms: "soon" is not a time: write ns, 1700000000.5s or 2023-11-14T22:13:20.5Z
? 2
$ unskew sync --anchor a@1s=b+-1ms a b
! unskew: --anchor a@1s=b+-1ms: "b" should be CLOCK@TIME
? 2
$ unskew sync --anchor a@1s=b@2s±soon a b
! unskew: --anchor a@1s=b@2s±soon: "soon" is not a duration such as 30min or 39us
? 2
$ unskew sync --anchor a@1s=b@2s+--1ms a b
! unskew: --anchor a@1s=b@2s+--1ms: -1ms is negative
? 2
$ unskew sync --anchor a@1s=nobody@2s+-1ms a=$DATA/host0.pcap b=$DATA/host1.pcap
! unskew: --anchor a@...=nobody@...: there is no clock "nobody"; "a" is one
? 2
$ unskew sync --anchor a@1s=a@2s+-1ms a=$DATA/host0.pcap b=$DATA/host1.pcap
! unskew: --anchor a@...=a@...: names one clock twice
? 2
$ unskew sync -q --anchor a@2023-11-14T22:13:20+00:00=b@1700000000.5s±1s --anchor 'b@1=a@2+-0' a=$DATA/host0.pcap b=$DATA/host1.pcap
