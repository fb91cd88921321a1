# SPDX-License-Identifier: MIT
"""linear.py - is there an order of operations that explains what they returned?

Wing and Gong's search with the states that were seen remembered (Lowe 2017), for registers and stores
of keys. It shares no code with any checker, nor with the program.

An operation is a dict: f, key, input, output, type ('ok', 'fail', or None: nobody knows), from, to.
An order is a list of places in the list of operations.
"""
OPEN = 1 << 63  # the end of what never returned


def step_register(state, op):
	"""(may it be so, the state after it); state None: never written."""
	f, ok = op['f'], op['type'] == 'ok'
	if f == 'read':
		return not ok or state == op['output'], state
	if f == 'write':
		return True, op['input']
	old, new = op['input']
	if op['type'] == 'fail':
		return state != old, state
	return state == old or not ok, new if state == old else state


def step_store(state, op):
	"""Of one key; texts."""
	state = state or ''
	if op['f'] == 'get':
		return op['type'] != 'ok' or state == op['output'], state
	return True, op['input'] if op['f'] == 'put' else state + op['input']


STEP = {'register': step_register, 'store': step_store}


def partitions(model, ops):
	"""What can be judged apart: keys. What surely had no effect, and says nothing, is left out."""
	parts = {}
	for i, op in enumerate(ops):
		if op['type'] == 'fail' and op['f'] != 'cas':
			continue
		if op['type'] != 'ok' and op['f'] in ('read', 'get'):
			continue
		parts.setdefault(op.get('key') if model == 'store' else None, []).append(i)
	return parts.values()


def search(step, ops, most):
	"""An order; False: there is none; None: it takes more steps to tell."""
	n = len(ops)
	events = sorted([(op['from'], 0, i) for i, op in enumerate(ops)] +
		[(op['to'], 1, i) for i, op in enumerate(ops)])
	# A list of events; an operation that was put into the order is taken out of it.
	after = list(range(1, 2 * n + 2))
	before = list(range(-1, 2 * n + 1))
	place = {(i, kind): k + 1 for k, (_, kind, i) in enumerate(events)}
	# Only what returned has to be in the order.
	needed = sum(1 << i for i, op in enumerate(ops) if op['type'] is not None)
	done, state, seen, stack, k = 0, None, set(), [], after[0]
	while done & needed != needed:
		kind, i = events[k - 1][1:] if k <= 2 * n else (1, None)
		if kind == 0:
			most -= 1
			if most < 0:
				return None
			fits, new = step(state, ops[i])
			mark = (done | 1 << i, new)
			if fits and mark not in seen:
				seen.add(mark)
				stack.append((i, state))
				state, done = new, done | 1 << i
				for p in (place[i, 0], place[i, 1]):
					after[before[p]], before[after[p]] = after[p], before[p]
				k = after[0]
				continue
			k = after[k]
			continue
		if not stack:
			return False
		i, state = stack.pop()
		done &= ~(1 << i)
		for p in (place[i, 1], place[i, 0]):
			after[before[p]] = before[after[p]] = p
		k = after[place[i, 0]]
	return [i for i, _ in stack]


def order_of(model, ops, most=50000):
	"""An order of all; False: there is none; None: it takes more steps to tell."""
	order, told = [], True
	for part in partitions(model, ops):
		found = search(STEP[model], [ops[i] for i in part], most)
		if found is False:
			return False
		told = told and found is not None
		order += [part[i] for i in found or []]
	return order if told else None


def explains(model, ops, order):
	"""Is it an order of these operations? What found it need not be trusted."""
	states, latest, placed = {}, {}, set(order)
	for i in order:
		op = ops[i]
		key = op.get('key') if model == 'store' else None
		fits, states[key] = STEP[model](states.get(key), op)
		latest[key] = max(latest.get(key, op['from']), op['from'])
		if not fits or op['to'] < latest[key]:
			return False
	return len(placed) == len(order) and all(i in placed or ops[i]['type'] is None
		for part in partitions(model, ops) for i in part)
