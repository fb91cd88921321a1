# The answer as a page; what stands in it is tested elsewhere, here that it comes, whole or not at all.
# needs: with-page
$ unskew simulate -q --seconds 10 --rate 50 --format table --drift-ppm 21 -o d && mv d/messages.csv m.csv
$ unskew report m.csv -o page.html
Add -1.0001053 s ± 52.7 us to a stamp of host1 in the middle of its trace to get the time of host0; its drift is 21 (5 to 38) ppm. Of 973 messages 495 were received before sent as recorded, 0 after correction.
! Wrote page.html.
$ unskew report m.csv -o page.html
! unskew: page.html: exists already; use --force to replace it
? 1
$ unskew report m.csv -o -
! unskew: "-" is not the name of a file; for standard output write /dev/stdout
? 2
$ unskew report m.csv
! unskew: -o FILE is missing: the page to write, as report.html
? 2
$ unskew report m.csv -o m.csv --force
! unskew: m.csv: is an input, so it cannot be an output too; write to another
? 2
$ unskew report m.csv -o page.html --force --json | grep -v -e drawings -e bytes
{
  "unskew_report": 1,
  "path": "page.html",
  "source": "traces",
  "messages": {
    "used": 973,
    "held": 973
  },
  "clocks": [
    {
      "name": "host0",
      "quality": "reference"
    },
    {
      "name": "host1",
      "quality": "bounded"
    }
  ],
  "notes": [],
  "page_notes": []
}
! Wrote page.html.
$ grep -c '<th scope="row"><bdi>host1</bdi></th><td>bounded</td>' page.html
1
$ grep -o 'Add [^;]*' page.html
Add -1.0001053 s ± 52.7 us to a stamp of host1 in the middle of its trace to get the time of host0
# All options of sync; every estimator side by side.
$ unskew report m.csv -o linear.html --model linear --reference host1 --compare -q && grep -o '"name":"two-point"' linear.html
"name":"two-point"
"name":"two-point"
$ grep -o '"command":.*' linear.html
"command":["unskew","report","m.csv","-o","linear.html","--model","linear","--reference","host1","--compare","-q"],
# From clocks.json alone: what is asked of traces is refused.
$ unskew sync m.csv -o clocks.json -q && unskew report clocks.json -o alone.html
Add -1.0001053 s ± 52.7 us to a stamp of host1 in the middle of its trace to get the time of host0; its drift is 21 (5 to 38) ppm. Of 973 messages 495 were received before sent as recorded, 0 after correction.
Note: The page was made from clocks.json alone, so it draws no messages and no delays; run `unskew report` on the traces for these.
! Wrote alone.html.
$ unskew report clocks.json -o alone2.html --model linear
! unskew: --model is for traces; clocks.json has its answer already
? 2
$ unskew report clocks.json -o alone2.html --full
! unskew: --full needs the traces, not clocks.json
? 2
$ unskew report clocks.json m.csv -o alone2.html
! unskew: clocks.json holds clocks, it is no trace: give it alone, or give traces only
? 2
$ unskew report nothing.csv -o alone2.html
! unskew: nothing.csv: No such file or directory
? 1
$ unskew report m.csv -o nowhere/page.html
! unskew: nowhere/page.html: No such file or directory
? 1
$ unskew report m.csv -o /dev/full
! unskew: /dev/full: not written: No space left on device
? 1
$ (ulimit -f 1; unskew report m.csv -o big.html -q)
! unskew: big.html: not written: File too large
? 1
# Names that want to be markup are text.
$ sed 's|host1|"<script>alert(1)</script>"|g' m.csv >h.csv; unskew report h.csv -o h.html -q && grep -c '<script>alert' h.html
0
? 1
$ grep -o '<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi></th>' h.html
<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi></th>
# Clocks that nothing ties together: the page says so, and so does the status.
$ (sed -n 1p m.csv; grep ^host0 m.csv) >one.csv; unskew report one.csv -o one.html
No clock could be put on the time of another: messages bound none from both sides. Of 478 messages 0 were received before sent as recorded.
Note: all messages go from host0 to host1, so the offset is bounded on one side only; record traffic in the other direction, too
! Wrote one.html.
? 3
$ grep -ho '<h1>.*</h1>' one.html page.html
<h1>host0, host1: no common time</h1>
<h1>host0, host1: one time</h1>
$ ls
alone.html
clocks.json
d
h.csv
h.html
linear.html
m.csv
one.csv
one.html
page.html
# A clock that was set back: every message is of an epoch.
$ unskew simulate -q --seconds 20 --rate 20 --step host1@10s:-5s -o e; unskew report e/host0.pcap e/host1.pcap -q -o back.html
$ grep -o '"[a-z]*_epoch":\[0' back.html
"received_epoch":[0
"sent_epoch":[0
$ grep -o '"[a-z]*_epoch":null' back.html
"sent_epoch":null
"received_epoch":null
# Against the truth of a simulation.
$ unskew report m.csv --truth d/truth.json --compare -o truth.html | grep Truth; grep -c '"error_ns":{"start":"' truth.html
Truth: host1's estimate is off by at most 799 ns; its band holds the truth throughout.
1
! Wrote truth.html.
# A pipe is read once only.
$ cat m.csv | unskew report - -q -o pipe.html && grep -c '"held":495' pipe.html
1
# Many clocks, of which some are not tied to the others.
$ unskew simulate -q --hosts 5 --topology islands --seconds 5 --rate 20 --format table -o i; unskew report i/messages.csv -o many.html
5 of 5 clocks are on the time of a reference, in 2 groups that share no message; their error bounds are ± 50.7 us to ± 70.2 us. Of 755 messages 195 were received before sent as recorded, 0 after correction.
Note: host3 and host4 share no message with the other clocks: they are put on the time of host3, which cannot be compared with that of host0
! Wrote many.html.
# Of a clock that was set back by more than it ran, the longest epoch is told, and a timeline ends.
$ unskew simulate -q --seed 4 --seconds 60 --step host1@20s:-1000s --format table -o far; unskew sync far/messages.csv -o far.json | sed -n 3p; unskew report far.json -o far.html | cut -d' ' -f 1-6
host1  bounded    998.9992001 s ± 58.8 us         21 (-500 to 500)  5,886     5,928
Add 998.9992001 s ± 58.8 us
Note: The page was made from
! Wrote far.json.
! Wrote far.html.
$ unskew apply -q far.json far/messages.csv --timeline far-timeline.json; grep -c '"ph":"C"' far-timeline.json
8886
# What a clocks.json says goes to a terminal as text.
$ sed 's/"notes": \[/&"red \\u001b[31m",/; s/,]/]/' far.json >notes.json; unskew report notes.json -o notes.html | grep red
Note: red \u001b[31m
! Wrote notes.html.
# How good the machines' own clocks are: the tables and drawings of `unskew clock -o`, from its JSON, to the last digit.
$ unskew clock --seconds 0.01 --samples 200 --load 1 -q --json -o own.html >own.json; unskew report m.csv --clock host0=own.json --clock host1="$DATA/clock.json" -q -o own-report.html; python3 -c 'import re; parts = lambda text: re.findall(r"<(?:td|th|path|rect|text|p|figcaption)\b[^>]*>[^<]*", text); own = parts(open("own.html").read().split("<main>")[1]); page = open("own-report.html").read().split("id=\"unskew-machines\"")[1].split("</section>")[0].split("<h3>"); print(len(own) > 200, own == parts(page[1])); print(page[0].split("<h2>")[1]); print(*re.findall("<h[34]>.*", "<h3>" + page[2]), sep="\n"); print(*re.findall("<td[^>]*>([^<]*)", page[2])[:21], sep=" | ")'
True True
The machines' own clocks</h2>

<h3><bdi>host1</bdi></h3>
<h4>Zero elapsed time</h4>
<h4>A clock of two words</h4>
<h4>Timers</h4>
<h4>Messages</h4>
monotonic_raw | 20.7 ns | 10.0 ns | 0.0 | 0 | 0 | reference | realtime | 20.7 ns | 10.0 ns | 0.0 | 0 | 0 | 0.04 +- 0.16 | tsc | 9.23 ns | 0.39 ns | 0.0 | 0 | 0 | 2596.106060 MHz
$ unskew report clocks.json --clock "$DATA/clock.json" -q -o own-alone.html && grep -o '<h3>.*' own-alone.html; grep -c 'id="unskew-machines"' page.html
<h3><bdi>clock</bdi></h3>
0
? 1
# What is damaged, or something else, or would be replaced: a sentence, and no page.
$ head -c 3000 "$DATA/clock.json" >cut.json; unskew report m.csv --clock cut.json -o damaged.html
! unskew: cut.json: line 1: not JSON: premature end of input near '"de'
? 1
$ sed 's/"octaves":\[0/"octaves":[9/' "$DATA/clock.json" >wrong.json; unskew report m.csv --clock own.json --clock wrong.json -o damaged.html
! unskew: wrong.json: clocks[0].step_ns.octaves: do not add up to count
? 1
$ unskew report m.csv --clock clocks.json -o damaged.html
! unskew: clocks.json: unskew_clock: is missing: `unskew clock --json` did not print this
? 1
$ unskew report m.csv --clock nothing.json -o damaged.html
! unskew: nothing.json: No such file or directory
? 1
$ unskew report m.csv --clock own.json --clock ./own.json -o damaged.html
! unskew: --clock: own.json and ./own.json would both be called own; give NAME=FILE
? 2
$ unskew report m.csv --clock own.json -o own.json --force
! unskew: own.json: is an input, so it cannot be an output too; write to another
? 2
$ ls damaged.html
! ls: cannot access 'damaged.html': No such file or directory
? 2
# Clocks in the order that people count in.
$ unskew simulate -q -o dozen --hosts 12 --seconds 2 --rate 5 --topology star; unskew report dozen/*.pcap -o dozen.html -q; grep -o 'data-clock="[0-9]*"><th scope="row"><bdi>[^<]*' dozen.html | sed 's/.*>//' | tr '\n' ' '; echo
host0 host1 host2 host3 host4 host5 host6 host7 host8 host9 host10 host11 
# Of many pairs the data is packed, and holds the same.
$ unskew simulate -q -o pairs78 --hosts 13 --seconds 5 --rate 3 --format table; unskew report pairs78/messages.csv -o pairs78.html -q; unskew sync pairs78/messages.csv -q --json >pairs78.json; python3 -c 'import base64, gzip, json, re; data = json.loads(gzip.decompress(base64.b64decode(re.search(r"type=.text/plain. id=.unskew-data.>([^<]*)<", open("pairs78.html").read())[1]))); print(len(data["pairs"]), data["clocks"]["clocks"] == json.load(open("pairs78.json"))["clocks"])'
78 True
# Steps in UTC, as the axes are; what holds between them; how far off, where the truth is known; who is contradicted, beside the title.
$ unskew simulate -q -o stepped --hosts 2 --seconds 20 --rate 20 --seed 4 --step host1@8s:300ms --format table; unskew report stepped/messages.csv --truth stepped/truth.json -o stepped.html -q; sed -n '/unskew-stretches/,/<\/table>/p; /^<tr data-clock/p; /<li>Step/p' stepped.html | sed 's/<[^>]*>/ /g'
   host0   reference  0  0  0  -  408  393   host0   
   host1   bounded  -1.3002807 s ± 90.6 us  20 (-500 to 500)  52.3 us to 151 ms  1.04 us  393  408   host0  →  host1   
 
  Each stretch of a clock between its steps, the offset in its middle, and the smallest and the largest error bound in it.  
   clock  from, on it  to  offset in the middle (± bound)  error bound   
 
   host1   2023-11-14 22:13:21.015370427 UTC  2023-11-14 22:13:28.913285033 UTC  -1.000079 s ± 102 us  52.3 us to 195 us  
   host1   2023-11-14 22:13:29.389932989 UTC  2023-11-14 22:13:41.294229164 UTC  -1.3002807 s ± 90.6 us  54.9 us to 192 us  
 
 
 Step of host1 or host0 (messages cannot tell which): host1 was stepped forward, or host0 stepped backward, by 300.181 ms ± 626 us,
$ unskew report stepped/messages.csv --model linear -o contradicted.html -q; sed -n 's/.*class="answer">//p' contradicted.html
No clock could be put on the time of another. Of 801 messages 393 were received before sent as recorded. The messages of host1 contradict the model.</p>
# Why a bound holds, as a picture: two arrows from the clock that is the reference, two back, and the stretches between.
$ unskew report m.csv --explain "$(awk -F, 'NR == 2 { print $1 }' m.csv):$(awk -F, 'NR == 40 { print $3 }' m.csv)" -q -f -o why.html; grep -c 'class="[a-z]* arrow"' why.html; sed -n 's/<h3>\(When .*\)<.h3>/\1/p' why.html
4
When host1 showed 1700000001.487207980, host0 showed at least 1700000000.487143920
When host1 showed 1700000001.487207980, host0 showed at most 1700000000.487253166
$ unskew report m.csv --explain nobody:1s -f -o why.html
! unskew: "nobody" is not a clock of the table
? 1
