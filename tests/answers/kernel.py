# SPDX-License-Identifier: MIT
"""kernel.py - CTF traces of kernels: threads that take turns on processors, are woken, sleep, end; messages between them"""
import struct

import ctf

METADATA = ctf.METADATA + '''event { id = 3; name = "sched_switch"; stream_id = 0; fields := struct { string prev_comm; s32 prev_tid; s64 prev_state; string next_comm; s32 next_tid; }; };
event { id = 4; name = "WAKES"; stream_id = 0; fields := struct { string comm; s32 tid; u32 target_cpu; }; };
'''
SIGNED = '''typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = true; } := s64;
'''
STATES = [0, 0, 1, 1, 1, 2, 0x10, 0x40, 0x80, 0x100, 0x402]  # those above 0xff differ between kernels


class Machine(ctf.Machine):
	def __init__(self, draw, name):
		super().__init__(draw, name)
		self.metadata = METADATA.replace('env {', SIGNED + 'env {').replace('WAKES', draw.choice(['sched_wakeup', 'sched_waking', 'sched_wakeup_new']))

	def turns(self, draw):
		"""Threads on two processors."""
		names = {tid: draw.choice(['web', 'db', 'kworker/0:1', 'a name of over sixteen']) for tid in range(101, 101 + draw.choice([1, 3, 6]))}
		names[0] = 'swapper'
		on = [0, 0]
		t = draw.randrange(10**7)
		for _ in range(draw.choice([20, 150])):
			t += draw.choice([0, 1, 999, 10**5, 10**7])
			cpu, tid = draw.randrange(2), draw.choice(list(names))
			if draw.random() < 0.3:
				self.log(cpu, t, 4, names[tid].encode() + b'\0' + struct.pack('<iI', tid, draw.randrange(2)))
			elif draw.random() < 0.95 or tid not in on:
				was, on[cpu] = on[cpu], tid
				name = names[tid] if draw.random() < 0.9 else 'renamed'
				self.log(cpu, t, 3, names[was].encode() + b'\0' + struct.pack('<iq', was, draw.choice(STATES)) + name.encode() + b'\0' + struct.pack('<i', tid))


def write(draw):
	"""(names of the folders, what has to be said of them)"""
	machines = [Machine(draw, name) for name in 'ab']
	for number in range(draw.choice([0, 12, 40])):
		x, y = draw.sample(machines, 2)
		t = number * 10**7 + draw.randrange(10**7)
		x.log(0, t, 0, y.name.encode() + b'\0' + struct.pack('<II', number, 64))
		y.log(1, t + 30_000 + draw.randrange(10**5), 1, y.name.encode() + b'\0' + struct.pack('<I', number))
	for m in machines:
		m.turns(draw)
		m.write(draw)
	return [m.name for m in machines], ['--send', 'app:tx{to,number}', '--recv', 'app:rx{me,number}']
