# SPDX-License-Identifier: MIT
"""Tables of measurements, as Markdown and as JSON.

`results` is {workload: {allocator: [run, ...]}}; a run has cpu and wall in seconds, rss and
maxrss in KiB (see measure.c), or "failed" with the reason.
"""
import json
import math
import statistics

TABLES = [
    ("CPU time, user + system: median", "cpu", statistics.median),
    ("CPU time, user + system: minimum", "cpu", min),
    ("Wall time: median", "wall", statistics.median),
    ("Peak resident memory: median", "rss", statistics.median),
    ("The same as wait4 tells it", "maxrss", statistics.median),
]


def values(runs, what):
    """None if any of the runs failed: an allocator that crashes now and then has no time."""
    if not runs or any("failed" in run for run in runs):
        return None
    return [run[what] for run in runs]


def geomean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios)) if ratios else float("nan")


def spread(numbers):
    """(max - min) / median."""
    middle = statistics.median(numbers)
    return (max(numbers) - min(numbers)) / middle if middle else 0.0


def ratios(results, names, what, pick):
    """{workload: {allocator: ratio to glibc}}, of the workloads that glibc got through."""
    rows = {}
    for workload, by_name in results.items():
        base = values(by_name.get("glibc"), what)
        if base is None or not pick(base):
            continue
        row = {}
        for name in names:
            numbers = values(by_name.get(name), what)
            if numbers is not None:
                row[name] = pick(numbers) / pick(base)
        rows[workload] = row
    return rows


def means(rows, names, of):
    """Geometric means over the workloads that every allocator got through: else they would not be
    comparable. Returns {allocator: mean} and how many those are."""
    common = [row for workload, row in rows.items() if workload in of and all(n in row for n in names)]
    return {name: geomean([row[name] for row in common]) for name in names}, len(common)


def best_peer(row):
    peers = {name: ratio for name, ratio in row.items() if name != "ours"}
    return min(peers, key=peers.get) if peers else None


def table(title, results, groups, names, what, pick):
    rows = ratios(results, names, what, pick)
    unit = {"cpu": "s", "wall": "s", "rss": "MiB", "maxrss": "MiB"}[what]
    head = ["workload", "glibc, " + unit] + [n for n in names if n != "glibc"] + ["ours / best", "best", "spread"]
    lines = ["", "### %s, as ratio to glibc" % title, "", "| " + " | ".join(head) + " |",
             "|" + "---|" * len(head)]

    def cells(label, base, row, widths):
        best = best_peer(row)
        against = "%.2f" % (row["ours"] / row[best]) if best and "ours" in row else "-"
        return "| " + " | ".join(
            [label, base] + ["%.2f" % row[n] if n in row else "failed" for n in names if n != "glibc"]
            + [against, best or "-", widths]) + " |"

    for workload, row in rows.items():
        base = pick(values(results[workload]["glibc"], what))
        widths = [spread(values(results[workload][n], what)) for n in row]
        lines.append(cells(workload, "%.2f" % (base / 1024 if unit == "MiB" else base), row,
                           "%.0f%%" % (100 * statistics.median(widths))))
    for label, of in [("all", set(groups))] + [
            (g, {w for w in groups if groups[w] == g}) for g in dict.fromkeys(groups.values())]:
        mean, count = means(rows, names, of)
        if count:
            lines.append(cells("**geometric mean, %s (%d)**" % (label, count), "", mean, ""))
    return lines


def idle_table(results, names):
    lines = ["", "### Resident ten seconds after all of the peak was freed", "",
             "| | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    for workload, by_name in results.items():
        cells = []
        for name in names:
            kept = values(by_name.get(name), "kept")
            cells.append("failed" if kept is None else "%.1f%%" % (100 * statistics.median(kept)))
        lines.append("| %s | %s |" % (workload, " | ".join(cells)))
    return lines


def failures(results):
    """Each reason once, with how many runs it ended."""
    count = {}
    for workload, by_name in results.items():
        for name, runs in by_name.items():
            for run in runs:
                if "failed" in run:
                    key = "%s, %s: %s" % (workload, name, run["failed"])
                    count[key] = count.get(key, 0) + 1
    return ["- %s (%d times)" % item for item in count.items()]


def markdown(about, results, idle, groups, names):
    lines = ["Measured %s on %s; %d rounds, scale %g." % (
        about["date"], about["machine"], about["rounds"], about["scale"])]
    lines += ["Allocators: " + "; ".join("%s: %s" % item for item in about["allocators"].items()) + ".",
              "`spread` is (maximum - minimum) / median over the runs, the median of all allocators."]
    lines += ["", *("Left out: %s." % item for item in about["left_out"])] if about["left_out"] else []
    for title, what, pick in TABLES:
        if results:
            lines += table(title, results, groups, names, what, pick)
    if idle:
        lines += idle_table(idle, names)
    failed = failures(results) + failures(idle)
    if failed:
        lines += ["", "### Failed", "", *failed]
    return "\n".join(lines) + "\n"


def write_json(path, about, results, idle, groups, names):
    summary = {}
    for title, what, pick in TABLES:
        rows = ratios(results, names, what, pick)
        summary[title] = {
            "ratios": rows,
            "geomean": {label: means(rows, names, of)[0] for label, of in
                        [("all", set(groups))] + [(g, {w for w in groups if groups[w] == g})
                                                  for g in dict.fromkeys(groups.values())]},
        }
    with open(path, "w") as file:
        json.dump({"about": about, "groups": groups, "summary": summary, "runs": results,
                   "idle": idle}, file, indent=1)
        file.write("\n")
