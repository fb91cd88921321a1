#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put the bytes of a file into the program: embed.py OUT.c NAME [FILE]; without FILE none."""
import sys

out, name, files = sys.argv[1], sys.argv[2], sys.argv[3:]
data = open(files[0], "rb").read() if files else b""
with open(out, "w", encoding="ascii") as f:
    f.write("#include <stddef.h>\n")
    f.write(f"extern const unsigned char {name}[];\nextern const size_t {name}_size;\n")
    f.write(f"const size_t {name}_size = {len(data)};\n")
    f.write(f"const unsigned char {name}[] = {{\n")
    for i in range(0, len(data), 20):
        f.write(",".join(map(str, data[i : i + 20])) + ",\n")
    f.write("0};\n")
