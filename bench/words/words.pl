# SPDX-License-Identifier: MIT
# See words.py.
use strict;
use warnings;

sub tree {
	my ($words, $low, $high) = @_;
	return undef if $low == $high;
	my $middle = ($low + $high) >> 1;
	return {word => $words->[$middle], left => tree($words, $low, $middle),
		right => tree($words, $middle + 1, $high)};
}

sub depth {
	my ($node) = @_;
	return 0 unless $node;
	my ($left, $right) = (depth($node->{left}), depth($node->{right}));
	return 1 + ($left > $right ? $left : $right);
}

my (%index, $root);
while (my $line = <>) {
	push @{$index{$_}}, $. for split ' ', $line;
}
my @words = sort keys %index;
$root = tree(\@words, 0, scalar @words) for 1 .. 6;
my $bytes = 0;
$bytes += length for map { uc($_) . ": " . join(", ", @{$index{$_}}) } @words;
print scalar @words, " ", depth($root), " $bytes\n";
