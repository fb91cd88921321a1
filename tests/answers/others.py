# SPDX-License-Identifier: MIT
"""others.py - what others write: answers that say less than ours, or nothing of the clocks that are there; and chrony's logs"""
import copy

NEED_NOT = ['set_back', 'before', 'after', 'beyond', 'disturbed', 'wander', 'headline', 'half_width_ns', 'readings', 'quantum_ns', 'residual_ns']


def renamed(of, names):
	"""The same of other clocks."""
	if isinstance(of, dict):
		return {key: renamed(value, names) for key, value in of.items()}
	if isinstance(of, list):
		return [renamed(value, names) for value in of]
	return f'{of} of others' if isinstance(of, str) and of in names else of


def reduced(draw, answer):
	"""An answer without much that need not be said, and of which clocks have less, or are missing."""
	out = copy.deepcopy(answer)
	for c in out['clocks']:
		share = draw.choice([0, 0.5, 1])
		for key in NEED_NOT:
			if draw.random() < share:
				c.pop(key, None)
		for jump in c['jumps']:
			for key in ('of', 'or', 'likely', 'epoch', 'end_epoch'):
				if draw.random() < share:
					jump.pop(key, None)
		how = draw.choice(['all', 'all', 'all', 'absent', 'first half', 'second half', 'one-sided', 'no jumps'])
		half = len(c['knots']) // 2
		if how == 'absent':
			c.update(quality='absent', knots=[], jumps=[], reference=c['name'], path=[])
		elif how in ('first half', 'second half') and half > 1:
			c['knots'] = c['knots'][:half] if how == 'first half' else c['knots'][half:]
		elif how == 'one-sided' and c['quality'] == 'bounded':
			side = draw.choice(['lo_ns', 'hi_ns'])
			c['quality'] = 'one-sided'
			for knot in c['knots']:
				knot[side] = knot['offset_ns'] = None
		elif how == 'no jumps':
			c['jumps'] = []
	if len(out['clocks']) > 1 and draw.random() < 0.2:
		out['clocks'].pop(draw.randrange(len(out['clocks'])))
	return renamed(out, {c['name'] for c in out['clocks']}) if draw.random() < 0.12 else out


def tracking(when, off, error):
	return f'{when} 192.0.2.1 2 -3.545 0.045 {off:.3e} N 1 {error / 9:.3e} {off / 3:.3e} {error:.3e} {error / 2:.3e} {abs(off) + error:.3e}'


def measurements(when, off, error):
	return f'{when} 192.0.2.1 N 2 111 111 1111 6 6 0.01 {off:.3e} {error:.3e} {error / 5:.3e} {error / 2:.3e} {error / 7:.3e} CB00717B 4B D K'


def samples(stamp, off, error):
	return f'{stamp},7F000001,192.0.2.1,2,{stamp},{off:.9f},{off:.9f},{error / 9:.9f},0.210,0.022,3.589,{error:.9f},{error / 4:.9f},16.0,Normal'


def chrony(draw, clock, rows, date):
	"""Its log of what a clock claims, of (stamp, offset) in ns."""
	form = draw.choice([tracking, measurements, samples])
	path = f'{clock}.log'
	with open(path, 'w', encoding='utf-8') as f:
		f.write('=' * 40 + '\n   Date (UTC) Time\n' + '=' * 40 + '\n' if form is not samples and draw.random() < 0.5 else '')
		for x, off in sorted(rows):
			error = abs(off) / 1e9 * draw.choice([0.3, 1.1, 2]) + 1e-6
			when = date(x, 'epoch') if form is samples else date(x, 'iso')[:19].replace('T', ' ')
			line = form(when, off / 1e9, error)
			f.write((line if draw.random() < 0.95 else line.replace(' N ', ' ? ').replace('Normal', 'Not synchronised')) + '\n')
	return path
