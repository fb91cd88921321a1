# SPDX-License-Identifier: MIT
"""page.py - a Markdown page with tables and gnuplot figures

Out   DIR/NAME.md, DIR/NAME-FIGURE.svg
Why   tables are aligned, so that they can be read as they stand; figures look alike
"""
import os, subprocess, textwrap

# Okabe and Ito: told apart also by those who do not see red or green.
BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7")

SETUP = """set terminal svg size %d,%d font "sans-serif,13" background rgb "white"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set key above
"""


class Page:
    def __init__(self, out, name, title):
        self.out, self.name = out, name
        self.parts = ["# " + title]

    def heading(self, text):
        self.parts.append("## " + text)

    def text(self, text):
        self.parts.append(textwrap.fill(" ".join(text.split()), 100))

    def points(self, texts):
        self.parts.append("\n".join(textwrap.fill(t, 100, initial_indent="- ",
                                                  subsequent_indent="  ") for t in texts))

    def table(self, header, rows):
        """The first column to the left, the others, numbers mostly, to the right."""
        cells = [[str(c) for c in row] for row in [header] + list(rows)]
        width = [max(3, *(len(row[i]) for row in cells)) for i in range(len(header))]

        def line(row):
            out = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in
                   enumerate(zip(row, width))]
            return "| " + " | ".join(out) + " |"

        rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":"
                              for i, w in enumerate(width)) + "|"
        self.parts.append("\n".join([line(cells[0]), rule] + [line(row) for row in cells[1:]]))

    def figure(self, name, caption, script, size=(760, 420)):
        path = os.path.join(self.out, "%s-%s.svg" % (self.name, name))
        draw(SETUP % size + script, path)
        self.parts.append("![%s](%s)" % (" ".join(caption.split()), os.path.basename(path)))

    def write(self):
        with open(os.path.join(self.out, self.name + ".md"), "w") as f:
            f.write("\n\n".join(self.parts) + "\n")


def draw(script, path):
    made = subprocess.run(["gnuplot"], input=script, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if made.returncode or made.stderr.strip():
        raise RuntimeError("gnuplot, %s: %s" % (path, made.stderr.strip()))
    with open(path, "w") as f:
        f.write(made.stdout)


def block(name, rows):
    """Data within a gnuplot script: $name."""
    return "$%s << EOD\n%s\nEOD\n" % (name, "\n".join(" ".join(map(str, r)) for r in rows))


def count(n):
    return "{:,}".format(n)


def fixed(x, digits):
    """So many decimals, and no minus before zeros."""
    text = "%.*f" % (digits, x)
    return text.lstrip("-") if not float(text) else text


def three(x):
    """Three digits that count, none of them an exponent's."""
    if not x:
        return "0"
    return "%.0f" % x if abs(x) >= 999.5 else ("%#.3g" % x).rstrip(".")
