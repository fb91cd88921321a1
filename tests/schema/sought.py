#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sought.py SOURCE - what tests look for in the program's output is what the program can say

In    the tests' Python and C, and all that src has between quotes
Out   words that a test looks for and the program never says; 1 if there are any
Why   a test that asks whether a sentence is there, or passes over a case because it is, goes on passing when the
      sentence is put differently: it never fails again
Not   tests/golden, where all that is printed is compared, and shells, where a grep that finds nothing fails; tests of
      what others print

Python: the constant in `"..." in x`, x.startswith("..."), x.split("...") and in re.search and its kind, where x is output
(stdout, stderr) or what a name says is a line, note, text or answer of it. C: strstr() in a message or a note. Numbers, marks and
what a pattern leaves open are not compared: only the words between them, each run of which has to stand in one string of
src, or in two.
"""
import ast
import glob
import os
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
GAP = re.compile(r'"\s*(?:(?:PRI|USK_|INT)\w+\s*)?"')  # between two pieces of one string
WORDS = re.compile(r"[A-Za-z][A-Za-z' ]*[A-Za-z]")
OUTPUT = re.compile(r'\b(stdout|stderr|line|lines|note|notes|said|text|answer|sync|apply|out|err)\b')
NAMES = re.compile(r"\bhost\b|\b[a-z]\b")  # that a test gives
OTHERS = {'Sanitizer', 'runtime error', 'No space left', 'No space'}  # compilers and libraries say so
SEARCHES = {'search', 'match', 'fullmatch', 'compile', 'findall', 'finditer'}
OF_STRINGS = {'startswith', 'endswith', 'split', 'partition', 'index', 'find', 'count'}


def said(source):
	"""All strings of the program, in runs of words; what is printed between is left out."""
	out = []
	for path in glob.glob(os.path.join(source, 'src/**/*.[ch]'), recursive=True):
		with open(path, encoding='utf-8') as f:
			code = re.sub(r'/\*.*?\*/', ' ', f.read(), flags=re.S)
		out += [m[1] for m in LITERAL.finditer(GAP.sub('', code))]
	return '\n'.join(out)


def words(pattern, is_regex):
	"""What of it is spelt out."""
	if is_regex:
		pattern = re.sub(r'\\[a-zA-Z]|\[[^\]]*\]|\(\?[^)]*\)|[.)(][*+?]+|[a-z]\?', '|', pattern)
		pattern = pattern.replace('\\', '')
	runs = [w for run in WORDS.findall(pattern) for w in NAMES.split(run)]
	return [w.strip() for w in runs if len(w.strip()) > 3 and w not in OTHERS]


def constants(node):
	return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def of_python(path):
	"""(line, words) of what a test looks for in output."""
	with open(path, encoding='utf-8') as f:
		tree = ast.parse(f.read())
	for n in ast.walk(tree):
		if isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)) and isinstance(n.left, ast.Constant):
			if isinstance(n.left.value, str) and OUTPUT.search(ast.unparse(n.comparators[0])):
				yield n.lineno, words(n.left.value, False)
		elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.args:
			is_regex = n.func.attr in SEARCHES and ast.unparse(n.func.value) == 're'
			where = n.args[1:] if is_regex else [n.func.value]
			if (is_regex or n.func.attr in OF_STRINGS) and any(OUTPUT.search(ast.unparse(w)) for w in where):
				for text in constants(n.args[0]):
					yield n.lineno, words(text, is_regex)


def of_c(path):
	with open(path, encoding='utf-8') as f:
		for number, line in enumerate(f, 1):
			for where, text in re.findall(r'strstr\(([^,()]*), "((?:[^"\\]|\\.)*)"', line):
				if re.search(r'\b(msg|note)\b', where):
					yield number, words(text, False)


def is_said(run, strings):
	"""As it is, or of two pieces, as where the second one is chosen."""
	if run in strings:
		return True
	word = run.split()
	return any(' '.join(word[:i]) in strings and ' '.join(word[i:]) in strings for i in range(1, len(word)))


def main():
	source = sys.argv[1]
	strings, wrong, sought = said(source), 0, 0
	paths = [p for kind in ('sim/*.py', 'sim/*.c', 'unit/*.c') for p in glob.glob(os.path.join(source, 'tests', kind))]
	for path in sorted(paths):
		for number, runs in (of_python if path.endswith('.py') else of_c)(path):
			for run in runs:
				sought += 1
				if not is_said(run, strings):
					wrong += 1
					print(f'{os.path.relpath(path, source)}:{number}: the program never says "{run}"')
	print(f'{sought} runs of words are looked for, {wrong} of which the program never says')
	return wrong > 0 or sought < 30


if __name__ == '__main__':
	sys.exit(main())
