# SPDX-License-Identifier: MIT
# See words.py; awk has no trees.
{
	for (i = 1; i <= NF; i++) {
		at[$i] = at[$i] ", " FNR
		pair[$i, $(i + 1)]++
	}
}
END {
	for (word in at)
		bytes += length(toupper(word) at[word])
	count = asorti(pair, sorted)
	print length(at), count, bytes, length(sorted[count])
}
