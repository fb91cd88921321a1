# A clock that a daemon slews by hundreds of us and steps, with the log of what was done to it: as good as its quartz.
$ unskew simulate -q -o sim --hosts 2 --format table --rate 5 --seconds 600 --drift-ppm 5,20 --offset 0,50ms --poll 0,16s --poll-error 300us --step host1@300s:-500ms --clock-logs --seed 4; ls sim; sed 's/^# //;2q' sim/host1.clock.csv; awk -F, '$7 == "set"' sim/host1.clock.csv
host0.clock.csv
host1.clock.csv
messages.csv
truth.json
unskew clock log, raw clock of boot simulated-host1, host host1
clock,before_ns,time_ns,after_ns,rate_e12,status,event
realtime,86700006075453,1700000299499757877,86700006075490,47311924,1,set
$ unskew sync sim/messages.csv --truth sim/truth.json | grep -e '^host1' -e Uncertainty -e Causality -e Step -e from -e Model -e Truth -e Disturbed
host1  bounded    -20.138 ms ± 603 us             182.9 (182.9 to 193.9)  3,002     2,916
Causality violations (received before sent): 2,951 before correction, 0 after, and 3 among the outliers.
Uncertainty over the trace: ±51.8 us to ±251 ms, ±995 us on average.
Step of host1 or host0 (messages cannot tell which): host1 was stepped backward, or host0 stepped forward, by 500.205 ms ± 404 us,
Disturbed: host1 may have been stepped or slewed in 1 stretch, 368 s in all (61.4 % of the time);
Model wander: the rate of each clock is constant within 5 ppm
Truth: host1's estimate is off by at most 56.1 us; its band holds the truth throughout.
$ unskew sync sim/messages.csv --truth sim/truth.json --clock-log host0=sim/host0.clock.csv --clock-log host1=sim/host1.clock.csv -o clocks.json | grep -e '^host1' -e Uncertainty -e Causality -e Step -e from -e Model -e Truth -e Disturbed -e Note
host1  bounded    474.3953 ms ± 52.7 us           15.00 (14.72 to 15.28)  3,002     2,919
Causality violations (received before sent): 2,954 before correction, 15 after.
Uncertainty over the trace: ±51.6 us to ±252 ms, ±681 us on average.
Step: host1 was stepped backward, or stood still (suspended), by 499.999998 ms ± 88 ns,
Note: 15 messages are received before they were sent after the correction, too: when exactly between two of its lines a logged clock was stepped or slewed is not known; the error bounds hold there
Model wander: the rate of each clock is constant within 0.1 ppm, no two rates differ by more than
Truth: host1's estimate is off by at most 250 ms; its band holds the truth throughout.
! Wrote clocks.json.
# The answer is by the stamps as recorded: nobody behind it needs the log.
$ unskew convert clocks.json --clock host1 1700000100000000000 1700000500000000000
1700000100000000000	1700000099969659518	1700000099969607404	1700000099969712557
1700000500000000000	1700000500465075212	1700000500465023242	1700000500465127396
# What a log does not cover counts as a clock that is not logged.
$ head -400 sim/host1.clock.csv >short.csv; unskew sync sim/messages.csv --truth sim/truth.json --clock-log host1=short.csv | grep -e '^host1' -e short.csv -e Model -e Truth
host1  bounded    474.5862 ms ± 64.6 us           15.0 (9.8 to 20.2)  3,002     2,919
Note: short.csv: it does not cover all of the clock's stamps; there host1 counts as a clock without a log
Model wander: the rate of each clock is constant within 5 ppm, no two rates differ by more than
Truth: host1's estimate is off by at most 250 ms; its band holds the truth throughout.
$ sed 200,250d sim/host1.clock.csv >hole.csv; unskew sync sim/messages.csv --truth sim/truth.json --clock-log host0=sim/host0.clock.csv --clock-log host1=hole.csv | grep -e '^host1' -e hole.csv -e Truth
host1  bounded    474.3954 ms ± 59.1 us           14.8 (9.6 to 20.4)  3,002     2,919
Note: hole.csv: lines are missing; there host1 counts as a clock without a log
Truth: host1's estimate is off by at most 250 ms; its band holds the truth throughout.
$ sed 's/^realtime,\([0-9]*\),17/realtime,\1,16/' sim/host1.clock.csv >other.csv; unskew sync sim/messages.csv --clock-log host1=other.csv | grep -e other.csv
Note: other.csv: not used, it covers none of the clock's stamps: it is of another clock, or of another time
$ unskew sync sim/messages.csv --clock-log host0=sim/host1.clock.csv --clock-log host1=sim/host1.clock.csv; echo status $?
status 2
! unskew: --clock-log host1=sim/host1.clock.csv: this log is of the same machine as the log of host0
$ unskew sync sim/messages.csv --clock-log host1=sim/messages.csv; unskew sync sim/messages.csv --clock-log host7=short.csv; unskew sync sim/messages.csv --clock-log host1; echo status $?
status 2
! unskew: sim/messages.csv: is not a log of a clock, as `unskew record` writes it: it lacks the line clock,before_ns,time_ns,after_ns,rate_e12,status,event
! unskew: --clock-log host7=short.csv: there is no such clock; "host0" is one
! unskew: --clock-log: "host1" should be NAME=FILE
# Steps of a reference that its log tells, forward and backward: where and by how much, by the other clock's stamps.
$ unskew simulate -q -o ref --hosts 2 --format table --rate 5 --seconds 600 --drift-ppm 5,20 --offset 0,50ms --step host0@200s:300ms --step host0@400s:-500ms --clock-logs --seed 4; unskew sync ref/messages.csv --truth ref/truth.json --reference host0 --clock-log host0=ref/host0.clock.csv | grep -e '^host1' -e Uncertainty -e Causality -e Step -e between -e Truth
clock  quality    offset between steps (± bound)  drift, ppm           sent  received
host1  bounded    245.5075 ms ± 67.5 us           15.0 (9.8 to 20.2)  3,002     2,919
Clocks were stepped: an offset is that in the middle of the stretch between steps with the most messages.
Causality violations (received before sent): 2,913 before correction, 6 after.
Uncertainty over the trace: ±51.9 us to ±252 ms, ±728 us on average.
Step: host0 was stepped forward by 299.999994 ms ± 88 ns,
  between 1700000199.054066790 s and 1700000200.054124168 s on the clock of host1.
Step: host0 was stepped backward, or stood still (suspended), by 499.999997 ms ± 127 ns,
  between 1700000399.058046304 s and 1700000400.058216492 s on the clock of host1.
Note: 6 messages are received before they were sent after the correction, too: when exactly between two of its lines a logged clock was stepped or slewed is not known; the error bounds hold there
Truth: host1's estimate is off by at most 65.2 us; its band holds the truth throughout.
# The same where the other clock is logged and stepped, too: the reference's steps are at 207.054 s and 407.058 s of its stamps.
$ unskew simulate -q -o both --hosts 2 --format table --rate 5 --seconds 600 --drift-ppm 5,20 --offset 0,50ms --step host0@200s:300ms --step host0@400s:-500ms --step host1@100s:7s --clock-logs --seed 4; unskew sync both/messages.csv --truth both/truth.json --reference host0 --clock-log host0=both/host0.clock.csv --clock-log host1=both/host1.clock.csv | grep -e '^host1' -e Causality -e Step -e between -e Truth
clock  quality    offset between steps (± bound)  drift, ppm               sent  received
host1  bounded    -7.2575151 s ± 52.2 us          15.00 (14.72 to 15.28)  3,002     2,919
Clocks were stepped: an offset is that in the middle of the stretch between steps with the most messages.
Causality violations (received before sent): 3,002 before correction, 12 after.
Step: host1 was stepped forward by 6.999999999 s ± 87 ns,
  between 1700000099.052114961 s and 1700000107.052075470 s on the clock of host1.
Step: host0 was stepped forward by 299.999994 ms ± 88 ns,
  between 1700000206.054080182 s and 1700000207.054114727 s on the clock of host1.
Step: host0 was stepped backward, or stood still (suspended), by 499.999997 ms ± 127 ns,
  between 1700000406.058061902 s and 1700000407.058210601 s on the clock of host1.
Note: 12 messages are received before they were sent after the correction, too: when exactly between two of its lines a logged clock was stepped or slewed is not known; the error bounds hold there
Truth: host1's estimate is off by at most 52.9 us; its band holds the truth throughout.
# Both are steered by daemons as well: the bounds hold within the bracket of a step of the reference, too.
$ unskew simulate -q -o steered --hosts 2 --format table --rate 5 --seconds 600 --drift-ppm 5,20 --offset 0,50ms --step host1@309s:-244567us --poll 6s --slew-ppm 99 --step host0@167s:21ms --clock-logs --seed 7; unskew sync steered/messages.csv --truth steered/truth.json --reference host0 --clock-log host0=steered/host0.clock.csv --clock-log host1=steered/host1.clock.csv | grep -o 'its band .*'
its band holds the truth throughout.
# In captures, of which the reference was set back: its stamps show that, and the bounds hold on either side of it.
$ unskew simulate -q -o back --hosts 3 --rate 40 --seconds 60 --drift-ppm 5,20,-10 --offset 0,50ms,2s --step host1@18s:-4111969us --step host0@12s:-1279ms --poll 5s --slew-ppm 393 --clock-logs --seed 49; unskew sync back/host0.pcap back/host1.pcap back/host2.pcap --truth back/truth.json --reference host1 --clock-log host0=back/host0.clock.csv --clock-log host1=back/host1.clock.csv --clock-log host2=back/host2.clock.csv | grep -e '^host' -e Truth
host0  bounded    1.4199253 s ± 51.3 us           -15.0 (-16.9 to -13.0)  5,842     5,882
host1  reference  0                               0                       5,767     5,753
host2  bounded    -1.8434192 s ± 51.3 us          -30.0 (-32.0 to -28.0)  5,953     5,927
Truth: host0's estimate is off by at most 121 us; its band holds the truth throughout.
Truth: host2's estimate is off by at most 121 us; its band holds the truth throughout.
