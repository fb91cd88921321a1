# Which further messages would narrow the bands: a chain of three whose far end has the wide one.
$ unskew simulate -q -o chain --hosts 3 --topology chain --format table --seconds 300 --rate 2 --dmin 40us --tail 60us --offset 3ms && unskew plan chain/messages.csv -r host0
The widest band is that of host2: ±111 us as forecast for as many messages as there are, ±111 us as recorded.

10 more round trips a second  host2 then  widest then
host1 - host2                    ±100 us      ±100 us  host2
host0 - host1                    ±103 us      ±103 us  host2

host1 - host2, every  a second  host2 then  widest then
10.0 s                     0.1     ±110 us      ±110 us  host2
1.00 s                       1     ±107 us      ±107 us  host2
100 ms                      10     ±100 us      ±100 us  host2
10.0 ms                    100    ±97.1 us     ±97.1 us  host2
1.00 ms                  1,000    ±95.8 us     ±95.8 us  host2

Widths are means over time of ± half a band. This is a forecast, not a bound: delays are drawn from
those that were recorded, each by itself; rates wander by 5 ppm, as those of the clock that wandered most.
# What a width takes, and that no rate gives less than half of the fastest round trip.
$ unskew plan chain/messages.csv -r host0 --want 105us | sed -n '/^for/,/in all/p'
for ±105 us of every clock, every  a second
1.25 s                                  0.8  host1 - host2
1.25 s                                  0.8  host0 - host1
1.6 round trips a second in all.
$ unskew plan chain/messages.csv -r host0 --want 70us | grep -A3 '^Not even'
Not even a round trip every 1.00 ms on each link of their routes gives every clock ±70.0 us:
host2 has ±81.8 us then; no messages can give it less than ±80.1 us, half of the fastest round trip along its route, without --min-delay.

Widths are means over time of ± half a band. This is a forecast, not a bound: delays are drawn from
# Nothing was recorded yet: links that are described.
$ printf 'a,b,min_ns,median_ns,per_second\ngw,web,20000,50000,10\ngw,db,30000,90000,\nweb,db,15000,40000,0\n' >links.csv; unskew plan --topology links.csv --periods 1s,100ms,10ms
db has no band: no messages bound it from both sides.

10 more round trips a second   db then  widest then
gw - db                       ±38.1 us     ±38.1 us  db
web - db                      ±45.3 us     ±45.3 us  db
gw - web                          open         open  db

gw - db, every  a second   db then  widest then
1.00 s                 1  ±53.6 us     ±53.6 us  db
100 ms                10  ±38.1 us     ±38.1 us  db
10.0 ms              100  ±33.0 us     ±33.0 us  db

Widths are means over time of ± half a band. This is a forecast, not a bound: delays are drawn from
those that were described, each by itself; rates wander by 5 ppm.
$ unskew plan --topology links.csv --periods 100ms --json | sed 's/"[0-9][0-9]*"/"N"/' | head -40
{
  "unskew_plan": 1,
  "clocks": [
    {
      "name": "gw",
      "recorded_half_width_ns": null,
      "half_width_ns": "N",
      "least_half_width_ns": "N"
    },
    {
      "name": "web",
      "recorded_half_width_ns": null,
      "half_width_ns": "N",
      "least_half_width_ns": "N"
    },
    {
      "name": "db",
      "recorded_half_width_ns": null,
      "half_width_ns": null,
      "least_half_width_ns": "N"
    }
  ],
  "widest": "db",
  "links": [
    {
      "a": "gw",
      "b": "db",
      "period_ns": "N",
      "half_width_ns": "N",
      "widest": "db",
      "widest_half_width_ns": "N"
    },
    {
      "a": "web",
      "b": "db",
      "period_ns": "N",
      "half_width_ns": "N",
      "widest": "db",
      "widest_half_width_ns": "N"
    },
# Links of clocks that were recorded as well, and of others that nothing ties to them.
$ printf 'a,b,min_ns,median_ns\nhost0,host2,30000,50000\nx,y,1,2\n' >more.csv; unskew plan chain/messages.csv -r host0 --topology more.csv --top 1 | grep -v '^[0-9]'
The widest band is that of host2: ±111 us as forecast for as many messages as there are, ±111 us as recorded.

host0 - host2                   ±34.8 us     ±55.4 us  host1

host0 - host2, every  a second  host2 then  widest then

Not planned for: x, which no links with known delays in both directions tie to host0.
Not planned for: y, which no links with known delays in both directions tie to host0.
Widths are means over time of ± half a band. This is a forecast, not a bound: delays are drawn from
those that were recorded, each by itself; rates wander by 5 ppm, as those of the clock that wandered most.
$ unskew plan
! unskew: plan needs traces, or --topology FILE
? 2
$ unskew plan --topology chain/messages.csv
! unskew: chain/messages.csv: line 1: a topology has the columns a, b, min_ns, median_ns, and may have per_second; there is no a
? 1
$ unskew plan --topology links.csv -r nobody
! unskew: --reference: there is no clock nobody
? 2
$ awk 'BEGIN { print "sender,receiver,sent_ns,received_ns"; for (i = 0; i < 50; i++) printf "a,b,%d,%d\n", i * 1000000, i * 1000000 + 5000 + i % 7 }' >one.csv; unskew plan one.csv
! unskew: no two clocks have messages in both directions, so how long further ones would take is not known
? 1
# A name that no option can say.
$ printf 'a,b,min_ns,median_ns,per_second\n=x,y=z,5000,20000,10\n' >odd.csv; unskew plan --topology odd.csv --span 60s --json | sed -n '/clocks/,/]/p'
  "clocks": [
    {
      "name": "=x",
      "recorded_half_width_ns": null,
      "half_width_ns": "0",
      "least_half_width_ns": "0"
    },
    {
      "name": "y=z",
      "recorded_half_width_ns": null,
      "half_width_ns": "8793",
      "least_half_width_ns": "5000"
    }
  ],
# Messages of described links would all contradict the least delay.
$ unskew plan --topology odd.csv --min-delay 6us
! unskew: odd.csv: a message of =x - y=z takes 5.00 us at least, less than --min-delay 6us
? 1
$ printf 'a,b,min_ns,median_ns\nx\0y,z,5000,20000\n' >zero.csv; unskew plan --topology zero.csv
! unskew: zero.csv: line 2: a clock's name has a zero byte
? 1
