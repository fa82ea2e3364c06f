# SPDX-License-Identifier: MIT
"""Means of ratios, with their confidence."""
import math
import statistics

# Two-sided 95% of Student's t by degrees of freedom; the next smaller one is taken, to be safe.
STUDENT = {1: 12.7, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23,
           12: 2.18, 15: 2.13, 20: 2.09, 30: 2.04}


def interval(ratios):
    """The geometric mean of ratios and its 95% confidence interval, all in percent over 1."""
    logs = [math.log(r) for r in ratios]
    t = STUDENT[max(k for k in STUDENT if k <= len(logs) - 1)]
    mean, half = statistics.fmean(logs), t * statistics.stdev(logs) / math.sqrt(len(logs))
    return [100 * math.expm1(x) for x in (mean, mean - half, mean + half)]


def ranked(ratios):
    """The same without a normal distribution: the Hodges-Lehmann estimate, the median of the means of
    all pairs of logarithms, and the interval that Wilcoxon's signed-rank test has, exactly. It takes
    that the ratios are independent, and that they scatter as far up as down."""
    logs = [math.log(r) for r in ratios]
    means = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    ways = [1]  # in which the ranks that are positive add up to so much
    for rank in range(1, len(logs) + 1):
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways)]
    left_out, tail = 0, ways[0]
    while 40 * tail <= 2 ** len(logs):
        left_out += 1
        tail += ways[left_out]
    if not left_out:
        raise SystemExit("overhead: fewer than six rounds have no interval of 95%")
    return [100 * math.expm1(x) for x in (statistics.median(means), means[left_out - 1], means[-left_out])]


def percent(ratios, method=interval):
    mean, low, high = method(ratios)
    if mean > 300:
        return "%.1f times (%.1f to %.1f)" % tuple(1 + x / 100 for x in (mean, low, high))
    return "%+.2f%% (%+.2f to %+.2f)" % (mean, low, high)
