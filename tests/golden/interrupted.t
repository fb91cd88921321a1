# Work that is cut off leaves nothing half-written.
$ mkdir w; timeout -s TERM 0.3 unskew simulate -o w --seconds 100000 --rate 1000 -q
? 124
$ ls w
# What the parent has it ignore, as nohup does, it ignores.
$ mkdir v; trap '' HUP; unskew simulate -o v --seconds 1000 --rate 500 -q & sleep 0.1; kill -HUP $!; wait $! && ls v
host0.pcap
host1.pcap
messages.csv
truth.json
