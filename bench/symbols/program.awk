# SPDX-License-Identifier: MIT
# Writes one unit of a large C++ program: awk -v unit=N -v functions=N -f program.awk. Each function
# takes ten lines and inlines three templates and a lambda into each other, as such programs do.
BEGIN {
	print "#include <cstddef>"
	printf "namespace unit%d {\n", unit
	for (i = 0; i < functions; i++) {
		printf "template <typename T> struct holder%d {\n", i
		print "\tT value;"
		printf "\tT turn(T by) { return value = (value ^ by) * %d + (value >> 3); }\n", 2 * i + 1
		print "\ttemplate <int N> T turn_twice(T by) { turn(by + N); return turn(by - N); }"
		print "};"
		printf "__attribute__((noinline)) unsigned long work%d(holder%d<unsigned long> &holder, unsigned long n)\n{\n", i, i
		print "\tauto more = [&](unsigned long k) { return holder.template turn_twice<7>(k) + n; };"
		print "\tfor (unsigned long k = 0; k < n; k++)\n\t\tn ^= more(k);"
		print "\treturn n;\n}"
	}
	print "}"
}
