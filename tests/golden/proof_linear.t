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
