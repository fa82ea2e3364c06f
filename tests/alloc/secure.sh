#!/usr/bin/env bash
# The allocator's tests under ALLOCPROF_SECURE=1: what holds by default holds there.
set -euo pipefail
cd "$(dirname "$0")/../.."
O=${O:-build}
export ALLOCPROF_SECURE=1
for test in interface threads stress; do
  if ! "$O/tests/alloc/test_$test"; then
    echo "test_$test fails under ALLOCPROF_SECURE=1"
    exit 1
  fi
done
