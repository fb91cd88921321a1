# An answer against what the simulator knows; a truth that is damaged is refused.
$ unskew simulate -o t --seconds 5 --rate 20 --seed 3 -q
$ unskew sync t/host0.pcap t/host1.pcap --truth t/truth.json | grep Truth | sed 's/[0-9.]* [nu]s/N ns/'
Truth: host1's estimate is off by at most N ns; its band holds the truth throughout.
$ unskew sync client=t/host0.pcap server=t/host1.pcap --truth t/truth.json | grep -A1 Truth
Truth: nothing to compare for server: it has no correction, or truth.json has another name for it.
$ head -n 2 t/truth.json >cut.json; unskew sync t/host0.pcap t/host1.pcap --truth cut.json >out; grep Truth out
! unskew: cut.json: line 3: string or '}' expected near end of file
? 1
$ echo '{"unskew_truth":1,"true_ns":["1","2"],"clock_ns":{"host0":["1","2"],"host1":["1","x"]}}' >odd.json
$ unskew sync t/host0.pcap t/host1.pcap --truth odd.json >out
! unskew: odd.json: "host1" number 1 is not a time in ns
? 1
$ echo '{"unskew_truth":1,"true_ns":["1","2"],"clock_ns":{"host0":["1","2"],"host1":["1"]}}' >odd.json
$ unskew sync t/host0.pcap t/host1.pcap --truth odd.json >out
! unskew: odd.json: "host1" is not a list of 2 times
? 1
$ echo '[]' >odd.json; unskew sync t/host0.pcap t/host1.pcap --truth odd.json >out
! unskew: odd.json: is not a truth.json, which `unskew simulate` writes
? 1
$ unskew sync t/host0.pcap t/host1.pcap --truth none.json >out
! unskew: none.json: No such file or directory
? 1
# A band that misses the truth says so.
$ sed 's/"host1"/"host9"/; s/"host0"/"host1"/; s/"host9"/"host0"/' t/truth.json >swapped.json; unskew sync t/host0.pcap t/host1.pcap --truth swapped.json | grep Truth
Truth: host1's estimate is off by at most 2.01 s; its band MISSES the truth by up to 2.01 s.
