# SPDX-License-Identifier: MIT
"""trace_dat.py - write what trace-cmd writes: trace.dat, version 6, little-endian, as its manual page has it"""
import struct

PAGE = 4096
COMMON = ('unsigned short common_type', 2), ('unsigned char common_flags', 1), ('unsigned char common_preempt_count', 1), \
	('int common_pid', 4)
IRQS_OFF, NMI = 1, 0x40


class Event:
	"""One kind: its system and name, its fields as ('u64 data', 'Q') and the like."""

	def __init__(self, number, system, name, fields):
		self.number, self.system, self.name = number, system, name
		at, lines, self.format = 0, [], '<HBBi'
		for declared, size in COMMON:
			lines.append(f'\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:{int(declared.startswith("int"))};\n')
			at += size
		lines.append('\n')
		for declared, code in fields:
			size = struct.calcsize(code)
			self.format += 'x' * (-at % size) + code
			at += -at % size
			lines.append(f'\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:0;\n')
			at += size
		names = [declared.split()[-1] for declared, _ in fields]
		shown = ', '.join(f'REC->{n}' for n in names)
		self.text = (f'name: {name}\nID: {number}\nformat:\n{"".join(lines)}\nprint fmt: "{" ".join(n + "=%lx" for n in names)}", '
			f'{shown}\n').encode()

	def data(self, flags, pid, *values):
		return struct.pack(self.format, self.number, flags, 0, pid, *values)


def entry(delta, data):
	data += b'\0' * (-len(data) % 4)
	head = b''
	if delta >= 1 << 27:
		head = struct.pack('<II', 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
		delta = 0
	if len(data) <= 28 * 4:
		return head + struct.pack('<I', len(data) // 4 | delta << 5) + data
	return head + struct.pack('<II', delta << 5, len(data) + 4) + data


def pages(rows):
	"""Of one CPU: rows of stamp and data, in order."""
	made, page, first, last = b'', b'', None, 0
	for stamp, data in rows:
		one = entry(stamp - last if page else 0, data)
		if page and len(page) + len(one) > PAGE - 16:
			made += struct.pack('<QQ', first, len(page)) + page.ljust(PAGE - 16, b'\0')
			page, one = b'', entry(0, data)
		first = stamp if not page else first
		page += one
		last = stamp
	return made + (struct.pack('<QQ', first, len(page)) + page.ljust(PAGE - 16, b'\0') if page else b'')


def sized(code, text):
	return struct.pack(code, len(text)) + text


def trace(kinds, cpus):
	"""The file: kinds of events, for each CPU its rows (stamp, data)."""
	header = (b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n'
		b'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n')
	compressed = (b'# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n'
		b'\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n')
	systems = sorted({k.system for k in kinds})
	out = b'\x17\x08\x44tracing6\0' + bytes([0, 8]) + struct.pack('<I', PAGE)
	out += b'header_page\0' + sized('<Q', header) + b'header_event\0' + sized('<Q', compressed) + struct.pack('<I', 0)
	out += struct.pack('<I', len(systems))
	for system in systems:
		own = [k for k in kinds if k.system == system]
		out += system.encode() + b'\0' + struct.pack('<I', len(own)) + b''.join(sized('<Q', k.text) for k in own)
	out += struct.pack('<IIQI', 0, 0, 0, len(cpus)) + b'options  \0' + struct.pack('<H', 0) + b'flyrecord\0'
	data = [pages(rows) for rows in cpus]
	at = len(out) + 16 * len(cpus)
	at += -at % PAGE
	places, offset = b'', at
	for d in data:
		places += struct.pack('<QQ', offset, len(d))
		offset += len(d)
	return (out + places).ljust(at, b'\0') + b''.join(data)
