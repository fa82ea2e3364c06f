#!/usr/bin/env bash
# The stacks of tests/corpus against gdb's, built with clang.
. "$(dirname "$0")/../corpus/variants.sh"

variants clang clang++
echo "$tested builds, $compared stacks, all equal"
