#!/usr/bin/env python3
"""Makes ELF files that lie: lies.py PROGRAM FOLDER.

PROGRAM itself gets debug sections that claim to be huge, two of them compressed; its code, its
symbols and its notes stay. In FOLDER appear `sections`, in which every section is 2^62 bytes large
or begins behind the end, and `segments`, with 65,535 program headers that overlap.
"""
import struct
import sys

HEADER, SECTION, SEGMENT = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IIQQQQQQ"
NAME, FLAGS, OFFSET, SIZE = 0, 2, 4, 5
COMPRESSED = 0x800


def sections_lie(data, lie):
    header = struct.unpack_from(HEADER, data)
    table, count, names = header[6], header[12], header[13]
    fields = [list(struct.unpack_from(SECTION, data, table + i * 64)) for i in range(count)]
    for i, section in enumerate(fields):
        start = fields[names][OFFSET] + section[NAME]
        name = bytes(data[start : data.index(0, start)]).decode()
        if i not in (0, names):
            lie(i, name, section, data)
        struct.pack_into(SECTION, data, table + i * 64, *section)
    return data


def debug_lie(i, name, section, data):
    if not name.startswith(".debug"):
        return
    if i % 2:
        # The header of a compressed section: zlib, 2^40 bytes.
        section[FLAGS] |= COMPRESSED
        struct.pack_into("<IIQQ", data, section[OFFSET], 1, 0, 1 << 40, 1)
    else:
        section[SIZE] = (1 << 62) + i


def all_lie(i, name, section, data):
    if i % 2:
        section[SIZE] = 1 << 62
    else:
        section[OFFSET] = len(data) + i


def segments(data):
    header = list(struct.unpack_from(HEADER, data))
    header[5], header[10] = len(data), 0xFFFF
    one = struct.pack(SEGMENT, 1, 5, 0, 0, 0, 1 << 62, 1 << 62, 4096)
    other = struct.pack(SEGMENT, 1, 5, 4096, 1 << 63, 0, 1 << 63, 1 << 63, 4096)
    return struct.pack(HEADER, *header) + data[64:] + one * 0x8000 + other * 0x7FFF


program, folder = sys.argv[1:]
with open(program, "rb") as file:
    data = file.read()
with open(f"{folder}/sections", "wb") as file:
    file.write(sections_lie(bytearray(data), all_lie))
with open(f"{folder}/segments", "wb") as file:
    file.write(segments(data))
with open(program, "wb") as file:
    file.write(sections_lie(bytearray(data), debug_lie))
