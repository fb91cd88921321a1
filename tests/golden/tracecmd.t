# trace.dat: a guest's timer, which its host hears of. The guest is 5 ms ahead.
# needs: with-libtracecmd
$ unskew sync $DATA/tracecmd/host.dat $DATA/tracecmd/guest.dat | head -6
clock  quality    offset mid-trace (± bound)  drift, ppm         sent  received
guest  reference  0                           0                    20        20
host   bounded    5.00050 ms ± 4.79 us        0.0 (-9.8 to 9.8)    20        20

Matched 40 messages.
Causality violations (received before sent): 20 before correction, 0 after.
# Events that rules name; what is not there, packed, cut short, or says nothing of a packet, is a sentence.
$ cp $DATA/tracecmd/*.dat .; unskew check host.dat guest.dat --send 'kvm:kvm_msr{data}' --recv 'write_msr{val}' | head -3
direction      messages  inversions  min delay   median      p99      max
guest -> host         0           0          -        -        -        -
host -> guest        20           0    5.01 ms  5.01 ms  5.01 ms  5.01 ms
$ unskew check host.dat guest.dat --send 'kvm:kvm_msr{nothing}' --recv 'write_msr{val}'
! unskew: host.dat: has no event that --send or --recv names, with these fields
? 1
$ unskew check host.dat network.dat
! unskew: network.dat: has no event that says which other one it belongs to: neither kvm_msr nor write_msr of a guest's timer; --send and --recv name events by their fields (ftrace's network events have no fields of the packet)
? 1
$ gzip guest.dat; unskew check host.dat guest.dat.gz
! unskew: guest.dat.gz: is a trace.dat, which cannot be read packed or from a pipe
? 1
$ head -c 600 host.dat >cut.dat; unskew check host.dat cut.dat
! unskew: cut.dat: libtracecmd cannot read it
? 1
