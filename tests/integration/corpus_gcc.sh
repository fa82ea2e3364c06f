#!/usr/bin/env bash
# The stacks of tests/corpus against gdb's, built with gcc.
. "$(dirname "$0")/../corpus/variants.sh"

variants gcc g++
variant gcc g++ -DPLUGIN -O2 -flto
variant gcc g++ -DPLUGIN -O2 -mavx2 -mstackrealign
variant gcc g++ -DPLUGIN -O2 -fno-asynchronous-unwind-tables -funwind-tables
# The C part with .debug_frame only, the C++ part with .eh_frame.
variant gcc g++ -DPLUGIN -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables
echo "$tested builds, $compared stacks, all equal"
