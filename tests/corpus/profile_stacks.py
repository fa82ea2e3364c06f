# SPDX-License-Identifier: MIT
"""Prints the stacks of a pprof file in the form of gdb_stacks.py, as often as each was sampled."""
import gzip
import os
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            sys.exit(f"unexpected wire type {key & 7}")
        yield key >> 3, value


def numbers(value):
    if isinstance(value, int):
        return [value]
    at, found = 0, []
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


strings, mappings, locations, functions, samples = [], {}, {}, {}, []
for number, value in fields(gzip.open(sys.argv[1]).read()):
    if number == 2:
        sample = {1: [], 2: []}
        for field, inner in fields(value):
            if field in sample:
                sample[field] += numbers(inner)
        samples.append(sample)
    elif number == 3:
        mapping = dict(fields(value))
        mappings[mapping[1]] = mapping
    elif number == 4:
        location = dict(fields(value))
        locations[location[1]] = location
    elif number == 5:
        function = dict(fields(value))
        functions[function[1]] = function
    elif number == 6:
        strings.append(value.decode())


def place(identifier):
    location = locations[identifier]
    if not location.get(2):
        line = dict(fields(location[4]))
        return strings[functions[line[1]][2]]
    mapping = mappings[location[2]]
    offset = location[3] - mapping[2] + mapping.get(4, 0)
    return f"{os.path.basename(strings[mapping[5]])}+{offset:#x}"


for sample in samples:
    for _ in range(sample[2][0]):
        print(";".join(place(identifier) for identifier in sample[1]))
