// SPDX-License-Identifier: MIT
/*
 * What is known of the blocks of a node beside their number and bytes: how large they are, how long
 * they lived, how old they are, whose they are. Nothing here touches the document.
 */
"use strict";

const LIFETIMES = ["<1 ms", "≥1 ms", "≥10 ms", "≥0.1 s", "≥1 s", "≥10 s", "≥100 s", "≥1000 s"];
const SIZES_SHOWN = 8; // columns at most; the least are left out

/*
 * profile.parts, in the order of their nodes; those of node n are first[n] to first[n + 1]. Labels
 * are { size, lifetime, age, thread }, -1: not known.
 */
function decodeParts(json, nodes) {
	const list = json.parts;
	const parts = { count: 0, label: [], samples: [], value: [], first: new Int32Array(nodes + 1), labels: [], threads: [] };
	let node = 0;
	for (let at = 0; at < list.length; parts.count++) {
		node += list[at];
		parts.first[node + 1]++;
		parts.label.push(Math.floor(list[at + 1] / 3));
		parts.samples.push(list[at + 2]);
		const [objects, bytes] = [list[at + 3], list[at + 4]];
		const form = list[at + 1] % 3;
		if (form === 0)
			parts.value.push(objects, bytes, list[at + 5], list[at + 6]);
		else
			parts.value.push(objects, bytes, form === 1 ? objects : 0, form === 1 ? bytes : 0);
		at += form === 0 ? 7 : 5;
	}
	for (let n = 0; n < nodes; n++)
		parts.first[n + 1] += parts.first[n];
	for (let i = 0; i < json.labels.length; i += 4) {
		const [size, lifetime, age, thread] = json.labels.slice(i, i + 4);
		parts.labels.push({ size, lifetime, age, thread });
	}
	for (let i = 0; i < json.threads.length; i += 2)
		parts.threads.push({ name: json.threads[i], tid: json.threads[i + 1] });
	return parts;
}

function addParts(self, parts) {
	for (let node = 0; node < parts.first.length - 1; node++) {
		for (let i = 4 * parts.first[node]; i < 4 * parts.first[node + 1]; i++)
			self[4 * node + (i & 3)] += parts.value[i];
	}
	return self;
}

/* Threads of one name are one: a pool of a thousand workers is read as such. */
function threadName(thread) {
	return thread && thread.name !== "" ? thread.name : "[no thread]";
}

/*
 * The part of a node's value that each class has: sizes, a Map by class; lifetimes (of what has been
 * freed) and ages (of what is live, in tenths of the recording). lifetimes is by what was
 * allocated, whatever the value: live blocks have none.
 */
function partSums(tree, node, value) {
	const { parts } = tree.profile;
	const sums = { sizes: new Map(), lifetimes: new Float64Array(LIFETIMES.length), ages: new Float64Array(10) };
	const within = new Uint8Array(tree.count);
	within[node] = 1;
	for (let n = node + 1; n < tree.count; n++)
		within[n] = within[tree.parent[n]];
	const allocated = valueTypes[value].bytes ? 1 : 0;
	for (let i = 0; i < parts.count; i++) {
		if (tree.partAt[i] < 0 || !within[tree.partAt[i]])
			continue;
		const { size, lifetime, age } = parts.labels[parts.label[i]];
		const number = parts.value[4 * i + value];
		if (size >= 0 && number > 0)
			sums.sizes.set(size, (sums.sizes.get(size) || 0) + number);
		if (age >= 0)
			sums.ages[age] += number;
		if (lifetime >= 0)
			sums.lifetimes[lifetime] += parts.value[4 * i + allocated];
	}
	return sums;
}

/* "≥64 B": the lower end of a class of sizes, which are powers of two. */
function sizeText(size) {
	return "≥" + formatBytes(2 ** size).replace(/\.0+ /, " ");
}

/* Histograms as [[label, number], ...], from the smallest; [] where nothing is known. */
function sizeColumns(sums) {
	const largest = [...sums.sizes].sort((a, b) => b[1] - a[1]).slice(0, SIZES_SHOWN);
	return largest.sort((a, b) => a[0] - b[0]).map(([size, number]) => [sizeText(size), number]);
}

function lifetimeColumns(sums) {
	return sums.lifetimes.some((n) => n > 0) ? LIFETIMES.map((label, i) => [label, sums.lifetimes[i]]) : [];
}

function ageColumns(sums, duration) {
	if (!sums.ages.some((n) => n > 0))
		return [];
	return [...sums.ages].map((number, i) => [i === 0 ? "now" : i === 9 ? formatDuration(duration).replace(".0", "") : "", number]);
}

/*
 * The sampling error: the variance of each node's value, and the samples behind it. n samples of one
 * weight that stand for k objects of one size are off by a variance of value^2 (1/n - 1/k): see
 * estimate.h.
 * Where n is not known it is k (1 - exp(-size / period)). Null where nothing of it is known.
 */
function samplingError(tree, value) {
	const { profile } = tree;
	const { period } = profile.info;
	if (!(period > 0) || !valueTypes.every((type) => type.known))
		return null;
	const variance = new Float64Array(tree.count);
	const samples = new Float64Array(tree.count);
	const [objects, bytes] = valueTypes[value].live ? [2, 3] : [0, 1];
	const rest = tree.self.slice(0, 4 * tree.count); // what is no part
	const add = (node, values, at, known) => {
		const count = values[at + objects];
		if (!(count > 0))
			return;
		const behind = known > 0 ? known : count * -Math.expm1(-values[at + bytes] / count / period);
		samples[node] += behind;
		if (behind > 0 && count > behind)
			variance[node] += values[at + value] ** 2 * (1 / behind - 1 / count);
	};
	for (let i = 0; i < profile.parts.count; i++) {
		const node = tree.partAt[i];
		if (node < 0)
			continue;
		add(node, profile.parts.value, 4 * i, profile.parts.samples[i]);
		for (let v = 0; v < 4; v++)
			rest[4 * node + v] -= profile.parts.value[4 * i + v];
	}
	for (let n = tree.count - 1; n >= 0; n--) {
		add(n, rest, 4 * n, 0);
		if (n > 0) {
			variance[tree.parent[n]] += variance[n];
			samples[tree.parent[n]] += samples[n];
		}
	}
	return { variance, samples };
}

/* How far the value may be off, with 95% confidence, as a share of it: "12%"; "": it is certain. */
function errorShare(range, node, number) {
	const z2 = 1.959964 ** 2;
	const weight = range.variance[node] / number;
	const share = 100 * (z2 * weight / 2 + Math.sqrt(z2 * range.variance[node] + (z2 * weight / 2) ** 2)) / number;
	if (share > 100)
		return ">100%";
	return share < 0.05 ? "" : (share < 10 ? share.toFixed(1) : Math.round(share)) + "%";
}
