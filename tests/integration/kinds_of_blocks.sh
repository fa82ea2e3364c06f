#!/usr/bin/env bash
# A program with known sizes, lifetimes and threads: the labels of its recording add up to what it
# has measured itself (a lifetime whose class the program's clock leaves open may be in either); what
# leaks is told from what churns and from what is young; filters leave out what they should and say
# so; and what --min-size lets through, in the kernel.
. "$(dirname "$0")/common.sh"
need_bpf
need go

# "FUNCTION LABELS BYTES" for each sample of a .pb.gz; the labels without blanks.
labeled() { # FILE
  HOME=$tmp go tool pprof -raw "$1" 2>/dev/null | awk '
    /^Samples:/ { part = "samples"; next }
    /^Locations/ { part = "locations"; next }
    /^Mappings/ { part = "" }
    part == "samples" && /^ *[0-9]+ .*: / { n++; value[n] = $2; stack[n] = $0; sub(/.*: /, "", stack[n]); next }
    part == "samples" && n { gsub(/ /, ""); labels[n] = labels[n] $0 }
    part == "locations" && $1 ~ /^[0-9]+:$/ { id = $1; sub(/:/, "", id) }
    part == "locations" { names[id] = names[id] " " $0 " " } # also of what was inlined there
    END {
      for (i = 1; i <= n; i++) {
        count = split(stack[i], ids, " ")
        for (j = 1; j <= count; j++)
          if (match(names[ids[j]], / (leak|recent|garbage|session) /)) break
        print substr(names[ids[j]], RSTART + 1, RLENGTH - 2), labels[i], value[i]
      }
    }'
}
sum_of() { # FUNCTION TEXT: of those with this among the labels
  awk -v name="$1" -v text="$2" '$1 == name && index($2, text) { sum += $3 } END { printf "%.0f", sum }' "$tmp/labeled.out"
}

start known_blocks
attach first --by-thread -o "$tmp/first.pb.gz" "$pid"
echo >"$tmp/known_blocks.in"
wait_until has "$tmp/known_blocks.out" "^done"
detach || fail "attach ended with $?"
labeled "$tmp/first.pb.gz" >"$tmp/labeled.out"

floors=(0 1000000 10000000 100000000 1000000000 10000000000 100000000000 1000000000000)
while read -r _ name class certain possible; do
  got=$(sum_of "$name" "lifetime:[${floors[class]}nanoseconds]")
  ((got >= certain && got <= possible)) ||
    fail "lifetimes of class $class of $name: $got, not from $certain to $possible"
done < <(grep ^lifetime "$tmp/known_blocks.out")
while read -r _ name class bytes; do
  equal "class $class of $name" "$(sum_of "$name" "bytes:[$((1 << class))bytes]")" "$bytes"
done < <(grep ^size "$tmp/known_blocks.out")
while read -r _ name bytes; do
  equal "live of $name" "$(sum_of "$name" "age:")" "$bytes"
done < <(grep ^live "$tmp/known_blocks.out")
equal "the leak's thread" "$(sum_of leak "thread:[keeper]")" "$(sum_of leak :)"
equal "the sessions' thread" "$(sum_of session "thread:[churner]")" "$(sum_of session :)"

folded() { # OPTIONS...: "FUNCTION BYTES" of what called the allocator
  "$allocprof" report "$@" -q -f folded -o - "$tmp/first.pb.gz" |
    sed -E 's/^.*;(leak|recent|garbage|session);.* ([0-9]+)$/\1 \2/' | sort
}
leak=$(sed -n 's/^live leak //p' "$tmp/known_blocks.out")
garbage=$(sed -n 's/^size garbage 6 //p' "$tmp/known_blocks.out")
# What is live and old; the youngest block of recent() is of the last milliseconds of a second.
equal "--leak" "$(folded --leak=50%)" "leak $leak"
equal "--thread" "$(folded --thread 'churn*' -X '^session$' --show allocated)" "garbage $garbage"
equal "--include" "$(folded -I '^(leak|garbage)$' -X recent --show allocated)" "garbage $garbage
leak $leak"
"$allocprof" report -X '^session$' --show allocated --lifetimes --sizes "$tmp/first.pb.gz" >"$tmp/report.out"
session=$(sum_of session :)
has "$tmp/report.out" "left out: $(numfmt --to=iec-i --format %.1f "$session" | sed 's/\(.i\)/ \1/')B, by -X" ||
  fail "what was left out is not in the table"
has "$tmp/report.out" "lived  <1ms (9[0-9]|100)%" || fail "garbage is not short-lived"
has "$tmp/report.out" "sizes from  64 B 100%" || fail "garbage is not small"
has "$tmp/report.out" " keeper +[0-9]+ " || fail "no threads in the table"
! grep -q leak <<<"$("$allocprof" report --thread nobody "$tmp/first.pb.gz")" || fail "--thread nobody"

# In the kernel: the last block of recent() is all that is still fired.
attach second --min-size 212 --strict -o "$tmp/second.pb.gz" -d 300ms "$pid"
status=0
wait "$loader" || status=$?
equal "status when all is left out" $status 6
has "$tmp/second.err" "samples were of sizes that are left out" || fail "no word of --min-size"
attach third --max-size 211 --depth 2 --strict --show allocated -o "$tmp/third.folded" -d 300ms "$pid"
wait "$loader" || fail "--max-size ended with $?"
equal "--depth" "$(sed 's/ [0-9]*$//' "$tmp/third.folded")" "[truncated: too deep];recent;block_new;fire_alloc"

# One place for all sizes and stacks: what finds none is counted, and --strict ends with 7.
kill -9 "$pid" # it reads the same pipe
wait_until gone "$pid"
start known_blocks
attach strict --max-stacks 1 --strict -o "$tmp/strict.pb.gz" "$pid"
echo >"$tmp/known_blocks.in"
wait_until has "$tmp/known_blocks.out" "^done"
status=0
detach || status=$?
equal "status of --strict" $status 7
[ -s "$tmp/strict.pb.gz" ] || fail "--strict left no output"

refused() { # OPTION...
  status=0
  "$allocprof" report "$@" "$tmp/first.pb.gz" 2>"$tmp/refused.err" || status=$?
  equal "status of report $*" $status 2
}
refused --leak=7%
refused --leak=100%
refused -I 'a('
has "$tmp/refused.err" "^detail: .*[Uu]nmatched" || fail "no reason for a bad expression"
status=0
"$allocprof" attach --min-size 5K --max-size 4K 1 2>"$tmp/refused.err" || status=$?
equal "status of sizes that cannot be" $status 2
