#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collectives.py UNSKEW [FIRST [COUNT [HOSTS]]] - bands of simulated clusters, and who was late

Clusters of 2 to 64 ranks, or of HOSTS, with clocks that wander, one that computes longer by 20 us to
5 ms, kinds of collectives. Every band has to hold the truth; `late` may say that it cannot tell, but
never names a wrong rank, or more time than there was, also where a clock is stepped and bands hold the
truth all the same. Some are written as Kineto writes profiles, a
file a rank, whose clocks have to be the same. A case is made by its seed alone.
"""
import csv
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from part import part


def run(*words):
	return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def options(seed, hosts):
	draw = random.Random(seed)
	n = hosts or draw.choice([2, 3, 8, 8, 8, 16, 64])
	late = int(10 ** draw.uniform(4.3, 6.7))
	who = draw.randrange(n)
	spread = draw.choice([0, 10, 100, 1000])
	return draw, n, ['--hosts', str(n), '--collectives', draw.choice(['mix', 'allreduce']),
		'--seconds', str(draw.choice([0.2, 1, 3]) if n < 64 else 0.5), '--seed', str(seed),
		'--offset', ','.join(f'{draw.randrange(-10**9, 10**9)}ns' for _ in range(n)),
		'--drift-ppm', ','.join(f'{draw.uniform(-40, 40):.3f}' for _ in range(n)),
		'--wander-ppb', draw.choice(['0', '1', '5']),
		'--compute', draw.choice(['200us', '2ms', '10ms']), '--compute-spread', f'{spread}us',
		'--dmin', draw.choice(['5us', '30us', '200us']), '--tail', draw.choice(['0', '5us', '100us']),
		'--resolution', draw.choice(['ns', 'ns', 'us']),
		'--straggle', ','.join(f'{late if i == who else 0}ns' for i in range(n)) + ',0']


def step(seed, n, how):
	"""Of one clock, as large as messages show, in some cases."""
	draw = random.Random(f'step {seed}')
	at = draw.uniform(0.2, 0.8) * float(how[how.index('--seconds') + 1])
	size = draw.choice([-1, 1]) * draw.choice([5, 200, 3000])
	return ['--step', f'host{draw.randrange(n)}@{at:.4f}s:{size}ms'] if draw.random() < 0.3 else []


def profiles(folder, draw):
	"""The same collectives as Kineto has them; the base of each file is its own."""
	ranks = {}
	with open(f'{folder}/collectives.csv') as table:
		for row in csv.DictReader(table):
			ranks.setdefault(row['clock'], []).append(row)
	for clock, rows in ranks.items():
		base = int(rows[0]['enter_ns']) - draw.randrange(10**12)
		events = []
		for row in rows:
			start, end = int(row['enter_ns']) - base, int(row['exit_ns'])
			took = end - base - start
			events.append('{"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,'
				f'"ts":{start // 1000}.{start % 1000:03},"dur":{took // 1000}.{took % 1000:03},'
				'"args":{"stream":7,"Collective name":"' + row['kind'] + '","Process Group Name":"0",'
				f'"Process Group Ranks":"[0]","Seq":{row["collective"]}' + '}}')
		with gzip.open(f'{folder}/{clock}.json.gz', 'wt') as out:
			out.write('{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":' + clock[4:] +
				'},"traceEvents":[' + ',\n'.join(events) + '],"baseTimeNanoseconds":' + str(base) + '}')
	return sorted(f'{folder}/{clock}.json.gz' for clock in ranks)


def judge_late(folder):
	with open(f'{folder}/late.csv') as truth:
		true = {row['collective']: row for row in csv.DictReader(truth)}
	decided = 0
	with open(f'{folder}/told.csv') as told:
		for row in csv.DictReader(told):
			is_true = true[row['collective']]
			if row['last'] not in ('', 'undecidable'):
				decided += 1
				if row['last'] != is_true['last'] or int(row['by_ns']) > int(is_true['by_ns']) + 1:
					return f'late: {row} is {is_true}', 0
			for what in ('waited_ns', 'transfer_ns'):
				# Time is of the reference there, which truly runs by up to 40 ppm faster.
				least, was = int(row[what]), int(is_true[what])
				if least > was + was / 10**4 + 2 * int(row['ranks']):
					return f'late: {what} of {row} is {is_true}', 0
	return '', decided


def clocks(path):
	with open(path) as answer:
		return [(c['name'], c.get('knots')) for c in json.load(answer)['clocks']]


def judge(unskew, seed, hosts):
	"""What is wrong with the case, '' if nothing is; how many collectives were decided."""
	with tempfile.TemporaryDirectory() as folder:
		draw, n, how = options(seed, hosts)
		stepped = step(seed, n, how)
		made = run(unskew, 'simulate', '-q', '--force', '-o', folder, *how, *stepped)
		if made.returncode:
			return f'simulate: {made.stderr}', 0
		table = f'{folder}/collectives.csv'
		answer = run(unskew, 'sync', table, '--truth', f'{folder}/truth.json', '-o', f'{folder}/clocks.json')
		truths = [line for line in answer.stdout.splitlines() if line.startswith('Truth:')]
		wrong = [line for line in truths if 'holds the truth throughout' not in line]
		if stepped and wrong:
			return '', 0  # of a step that stamps repeat bands promise nothing
		if answer.returncode not in (0, 3) or wrong or not stepped and len(truths) < n - 1 and not answer.returncode:
			return f'sync: {answer.returncode} {wrong} {answer.stderr}', 0
		late = run(unskew, 'late', table, '-o', f'{folder}/told.csv')
		if late.returncode not in (0, 3):
			return f'late: {late.returncode} {late.stderr}', 0
		if reads_profiles(unskew) and seed % 8 == 0 and 'allreduce' in how:
			files = profiles(folder, draw)
			run(unskew, 'sync', *files, '-o', f'{folder}/profiles.json')
			if clocks(f'{folder}/clocks.json') != clocks(f'{folder}/profiles.json'):
				return 'profiles have other clocks', 0
		return judge_late(folder)


def reads_profiles(unskew):
	"""Where libyajl is built in."""
	return 'yajl' in run(unskew, '--version').stdout.split('(without')[0]


def main():
	unskew = sys.argv[1]
	first, count = part(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[3]) if len(sys.argv) > 3 else 100)
	hosts = int(sys.argv[4]) if len(sys.argv) > 4 else 0
	decided = failed = 0
	for seed in range(first, first + count):
		why, n = judge(unskew, seed, hosts)
		decided += n
		failed += why != ''
		if why:
			print(f'seed {seed}: {why}')
	print(f'{count} clusters, {decided} collectives whose last rank was told, {failed} wrong')
	sys.exit(failed > 0 or not decided)


if __name__ == '__main__':
	main()
