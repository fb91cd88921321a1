# SPDX-License-Identifier: MIT
"""simulated.py - what `unskew simulate` is asked for: options that are drawn, so that each is there now and then"""
import json
import subprocess


def run(unskew, *words):
	done = subprocess.run([unskew, 'simulate', '-q', *words], capture_output=True, text=True)
	if done.returncode:
		raise AssertionError(f'simulate {" ".join(words)}: {done.stderr}')


def maybe(draw, share, *words):
	return list(words) if draw.random() < share else []


def listed(draw, n, one):
	return ','.join(one() for _ in range(n)) if draw.random() < 0.5 else one()


def clocks(draw, n, seconds):
	"""How clocks go, and are set; some begin at 0."""
	size, early = draw.choice([10**3, 10**6, 10**9, 10**12]), draw.random() < 0.12
	how = (['--start', '0s'] if early else []) + ['--offset=' + listed(draw, n, lambda: f'{draw.randrange(0 if early else -size, size)}ns'),
		'--drift-ppm=' + listed(draw, n, lambda: f'{draw.uniform(-40, 40):.3f}')]
	how += maybe(draw, 0.3, '--wander-ppb', draw.choice(['1', '20', '300']))
	how += maybe(draw, 0.1, '--flicker-ppb', '30')
	how += maybe(draw, 0.1, '--temperature-ppm', '0.5', '--temperature-period', f'{seconds / 3:.1f}s')
	how += maybe(draw, 0.15, '--poll', f'{seconds / 8:.2f}s', '--slew-ppm', draw.choice(['200', '5000']))
	for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
		by = draw.choice([-1, 1, 1]) * int(10 ** draw.uniform(3.5, 10))
		how += ['--step', f'host{draw.randrange(n)}@{draw.uniform(0.1, 0.9) * seconds:.3f}s:{by}ns']
	how += maybe(draw, 0.05, '--suspend', f'host{n - 1}@{seconds * 0.4:.2f}s:{seconds * 0.2:.2f}s')
	return how


def network(draw):
	how = ['--dmin', draw.choice(['2us', '50us', '50us', '3ms', '30us+10us+0.02us/B']), '--tail', draw.choice(['0', '5us', '50us', '2ms'])]
	how += maybe(draw, 0.1, '--tail-stages', '4')
	how += maybe(draw, 0.2, '--heavy', '3%')
	how += maybe(draw, 0.2, '--asym', draw.choice(['10us', '1ms']))
	how += maybe(draw, 0.1, '--load', '100us', '--load-heavy', '2%')
	return how


def shape(draw, n):
	return ['--hosts', str(n), '--topology', draw.choice(['mesh', 'mesh', 'chain', 'star', 'ring', 'tree', *(['islands'] if n > 3 else [])])]


def table(unskew, draw, seed):
	"""A table of messages; what else is said of it."""
	n, seconds = draw.choice([2, 2, 3, 3, 5, 9]), draw.choice([2, 20, 200])
	how = [*shape(draw, n), '--seconds', str(seconds), '--seed', str(seed), '--format', 'table',
		'--rate', f'{draw.choice([20, 100, 500]) / seconds / n:.3f}', *clocks(draw, n, seconds), *network(draw)]
	how += maybe(draw, 0.1, '--one-way')
	how += maybe(draw, 0.2, '--broadcast', f'{40 / seconds:.2f}')
	logs = seconds > 2 and draw.random() < 0.15
	run(unskew, '-o', 'in', *how, *(['--clock-logs'] if logs else []))
	logged = [f'host{i}' for i in range(n) if draw.random() < 0.7] if logs else []
	return [w for name in logged for w in ('--clock-log', f'{name}=in/{name}.clock.csv')]


def logged(unskew, draw, seed):
	"""A table of clocks that all have logs, and are set now and then, some far."""
	n, seconds = draw.choice([2, 2, 3]), draw.choice([20, 60])
	how = ['--hosts', str(n), '--seconds', str(seconds), '--seed', str(seed), '--format', 'table', '--rate', f'{200 / seconds / n:.3f}',
		'--clock-logs', '--offset=' + listed(draw, n, lambda: f'{draw.randrange(-10**9, 10**9)}ns'),
		'--drift-ppm=' + listed(draw, n, lambda: f'{draw.uniform(-40, 40):.3f}'), *network(draw)]
	for _ in range(draw.choice([0, 1, 2, 3, 3])):
		by = draw.choice([-1, -1, 1]) * int(draw.choice([10 ** draw.uniform(4, 10), seconds * 1.1 * 10**9]))
		how += ['--step', f'host{draw.randrange(n)}@{draw.uniform(0.1, 0.9) * seconds:.3f}s:{by}ns']
	run(unskew, '-o', 'in', *how)


def stacks(draw, n, udp):
	"""What captures show of networks, stacks and of themselves."""
	how = maybe(draw, 0.3, '--loss', draw.choice(['1%', '10%'])) + maybe(draw, 0.15, '--dup', '3%')
	how += maybe(draw, 0.15, '--reorder', '3%') + maybe(draw, 0.25, '--nat') + maybe(draw, 0.2, '--ipv6')
	if not udp:
		how += maybe(draw, 0.15, '--retrans', '3%') + maybe(draw, 0.25, '--tso') + maybe(draw, 0.25, '--gro')
		how += maybe(draw, 0.2, '--timestamps', 'off') + maybe(draw, 0.2, '--sack', 'off')
	how += maybe(draw, 0.2, '--ip-id', 'off') + maybe(draw, 0.15, '--resolution', 'us') + maybe(draw, 0.2, '--ttl-hops', '3')
	if draw.random() < 0.3:
		how += ['--link', listed(draw, n, lambda: draw.choice(['ethernet', 'sll', 'sll2', 'raw', 'null']))]
	else:  # others have no place for them
		how += maybe(draw, 0.2, '--vlan', listed(draw, n, lambda: draw.choice('012')))
	how += maybe(draw, 0.25, '--snaplen', str(draw.randrange(54, 80))) + maybe(draw, 0.15, '--late', '500ms')
	how += maybe(draw, 0.15, '--capture-loss', '5%') + maybe(draw, 0.2, '--chatter', '20') + maybe(draw, 0.2, '--connections', '5')
	return how


def captures(unskew, draw, seed, endings=('pcap', 'pcapng')):
	"""(names of hosts, how files end, what else is said, first and last stamp by host)"""
	n, seconds = draw.choice([2, 2, 2, 3, 4]), draw.choice([2, 5, 60])
	proto, ending = draw.choice(['tcp', 'tcp', 'udp', 'icmp', 'mix', 'mix']), draw.choice(endings)
	how = [*shape(draw, n), '--seconds', str(seconds), '--seed', str(seed), '--format', ending, '--proto', proto,
		'--rate', f'{draw.choice([40, 150]) / seconds / (n - 1):.3f}', *clocks(draw, n, seconds), *network(draw), *stacks(draw, n, proto in ('udp', 'icmp'))]
	how += maybe(draw, 0.1, '--bytes', '300')
	run(unskew, '-o', 'in', *how)
	with open('in/truth.json') as f:
		shown = json.load(f)['clock_ns']
	spans = {name: (min(map(int, row)), max(map(int, row))) for name, row in shown.items()}
	return [f'host{i}' for i in range(n)], ending, [], spans
