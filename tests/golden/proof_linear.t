# Clocks of constant rates in a circle: bounds of a linear program are proved by messages, each so often.
# needs: python3 with-CLP
$ unskew simulate -q -o ring --hosts 5 --topology ring --seconds 300 --rate 5 --seed 1 --format table --wander-ppb 0; unskew sync -q ring/messages.csv --model linear -o clocks.json --proof proof.txt
$ unskew-verify proof.txt clocks.json ring/messages.csv | grep host
host1: lower bounds are proved, upper bounds proved.
host2: lower bounds are proved, upper bounds proved.
host3: lower bounds are proved, upper bounds proved.
host4: lower bounds are proved, upper bounds proved.
$ sed 's/\( sum [0-9]* [0-9]*:\)[0-9]*/\11/' proof.txt >false.txt; unskew-verify false.txt clocks.json ring/messages.csv 2>&1 | grep -c "unskew-verify: line [0-9]*: .* sum "
1
$ unskew sync -q ring/messages.csv --model linear --explain host2:1700000150s | grep -q together && echo so
so
# Messages that a coarse clock stamped alike are told apart by when they were sent.
$ (echo sender,receiver,sent_ns,received_ns; echo 'a,c,85000000,84727835 b,a,91584107,90000000 b,a,91585107,90000000 a,b,2509000000,2510300116 b,c,2538832387,2537687431 c,a,2567073763,2567000000 c,a,2567074762,2567000000 c,b,3056022639,3057255477 c,b,3056024639,3057245972 b,a,3057562377,3056000000 a,c,3091000000,3091050931 b,c,3557226333,3556042307 a,b,3556000000,3557684697 c,a,3591004361,3591000000 a,c,4015000000,4015133299 a,c,4015000000,4015138047 c,b,4022529675,4023787234 c,b,4022531675,4023791392 c,b,4022532675,4023823316 b,a,4032033054,4031000000 c,a,4515094466,4515000000 b,c,4523761364,4522552474 b,c,4523762364,4522735032 b,c,4523763364,4522564476 a,b,4531000000,4532087837 a,b,4531000000,4532070024' | tr ' ' '\n') >coarse.csv; unskew sync -q coarse.csv --model linear -o coarse.json --proof coarse.txt; unskew-verify coarse.txt coarse.json coarse.csv | grep proved
a: lower bounds are proved, upper bounds proved.
b: lower bounds are proved, upper bounds proved.
