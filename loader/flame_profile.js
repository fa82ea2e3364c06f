// SPDX-License-Identifier: MIT
/*
 * The profile inside the page, and numbers for people. Nothing here touches the document.
 *
 * The JSON, as page_data.c writes it; indices count from 0 and -1 is "none":
 *   strings    [shared, rest, ...]   sorted; shared: characters taken over from the string before
 *   types      [type, unit, ...]   the four values, as in pprof; type "": there is no such value
 *   functions  [name, label, file, library, start line, hue, shade, ...]   strings by
 *              index; label: the short name; hue, shade: see tint.h
 *   frames     [function, line, flags, ...]   FRAME_*
 *   tree       the call tree in preorder: f >= 0 enters a child that is frame f, -n leaves n frames
 *   self       [skip, v0, v1, v2, v3, ...]   of the values of the stacks that end in a node what
 *              is not in its parts; skip: distance from the node before; the root, 0, counts as a node
 *   show       the value that is shown first; allocator: 1 if its frames are
 *   labels     [size, lifetime, age, thread, ...]   different ones; -1: not known. Classes of
 *              labels.h: size 2^c to 2^(c+1) bytes; lifetime, of freed blocks, in decades: 0 below
 *              1 ms, 1 to 10 ms, ... 7 from 1000 s on; age, of live blocks, in tenths of the
 *              recording: 0 the youngest; thread: index into threads
 *   threads    [name, tid, ...]   "" and 0: not known
 *   parts      [skip, 3 * label + form, samples, objects, bytes, (live objects, live bytes,) ...]
 *              of the node's own values those with this label; skip: distance from the node of the
 *              part before, 0 for the same; form: 0, with the last two; 1, without them, all is
 *              live; 2, nothing is; samples: how many of one weight tell as much as those that
 *              they stand for do, see estimate.h; 0: not known
 *   base       null, or { info, self }: the older profile of a diff, on the same tree
 * A value set is four numbers: allocated objects and bytes, live objects and bytes.
 */
"use strict";

const FRAME_INLINED = 1;
const FRAME_ALLOCATOR = 2; // malloc and what it calls, at the end of a stack
const FRAME_RESERVED = 4; // no code: says why a stack is missing or cut

const KNOWN_TYPES = {
	alloc_objects: { name: "Allocated objects", slug: "allocated-objects", live: false },
	alloc_space: { name: "Allocated bytes", slug: "allocated-bytes", live: false },
	inuse_objects: { name: "Live objects", slug: "live-objects", live: true },
	inuse_space: { name: "Live bytes", slug: "live-bytes", live: true },
};

/* The four values: { name, slug, live, bytes, known, there }. */
const valueTypes = [];

function decodeTypes(types) {
	for (let v = 0; v < 4; v++) {
		const [type, unit] = types.slice(2 * v, 2 * v + 2);
		const known = Object.hasOwn(KNOWN_TYPES, type);
		const named = known ? KNOWN_TYPES[type] : { name: type, slug: "value-" + v, live: false };
		valueTypes[v] = { ...named, known, bytes: unit === "bytes", there: type !== "" };
	}
}

/* --- numbers for people */

function formatBytes(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let size = Math.abs(bytes);
	let unit = 0;
	while (size >= 1023.95 && unit < units.length - 1) {
		size /= 1024;
		unit++;
	}
	const digits = unit === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
	return (bytes < 0 ? "\u2212" : "") + size.toFixed(digits) + " " + units[unit];
}

function formatCount(count) {
	const size = Math.abs(count);
	const sign = count < 0 ? "\u2212" : "";
	if (size < 99999.5)
		return sign + Math.round(size).toLocaleString("en-US");
	const [scale, unit] = size < 999.5e3 ? [1e3, "k"] : size < 999.5e6 ? [1e6, "M"] : [1e9, "G"];
	const shown = size / scale;
	return sign + shown.toFixed(shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2) + " " + unit;
}

function formatValue(number, value) {
	return valueTypes[value].bytes ? formatBytes(number) : formatCount(number);
}

function formatSigned(number, value) {
	return (number > 0 ? "+" : "") + formatValue(number, value);
}

function formatShare(part, whole) {
	if (!whole || !part)
		return "0%";
	const share = (100 * part) / whole;
	const size = Math.abs(share);
	if (size > 0 && size < 0.01)
		return "<0.01%";
	return (share < 0 ? "\u2212" : "") + size.toFixed(size < 1 ? 2 : 1) + "%";
}

/* "12.3 s", "4 min 10 s", "3 h 2 min" */
function formatDuration(ms) {
	const s = ms / 1000;
	if (s < 60)
		return s.toFixed(1) + " s";
	if (s < 3600)
		return Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
	return Math.floor(s / 3600) + " h " + Math.round((s % 3600) / 60) + " min";
}

function fileName(path) {
	return path.slice(path.lastIndexOf("/") + 1);
}

/* --- decoding */

function decodeProfile(json) {
	decodeTypes(json.types);
	const strings = [];
	for (let i = 0; i < json.strings.length; i += 2) {
		const before = i > 0 ? strings[strings.length - 1] : "";
		strings.push(before.slice(0, json.strings[i]) + json.strings[i + 1]);
	}
	const string = (index) => (index >= 0 ? strings[index] : "");

	const functions = [];
	for (let i = 0; i < json.functions.length; i += 7) {
		const [name, label, file, library, line, hue, shade] = json.functions.slice(i, i + 7);
		functions.push({
			id: functions.length,
			name: string(name),
			label: string(label),
			file: string(file),
			library: string(library),
			line,
			hue,
			shade,
			reserved: false,
		});
	}

	const frames = decodeFrames(json.frames, functions);
	let count = 1;
	for (const step of json.tree)
		count += step >= 0 ? 1 : 0;
	const parent = new Int32Array(count);
	const frame = new Int32Array(count);
	parent[0] = frame[0] = -1;
	let at = 0;
	let node = 0;
	for (let step of json.tree) {
		if (step >= 0) {
			parent[++node] = at;
			frame[node] = step;
			at = node;
		}
		for (; step < 0; step++)
			at = parent[at];
	}

	const parts = decodeParts(json, count);
	const decoded = {
		info: json.info,
		show: json.show,
		allocator: json.allocator === 1,
		functions,
		frames,
		count,
		parent,
		frame,
		self: addParts(decodeSelf(json.self, count), parts),
		baseInfo: json.base ? json.base.info : null,
		baseSelf: json.base ? decodeSelf(json.base.self, count) : null,
		parts,
		groups: {},
	};
	decoded.groups.library = libraryGroups(decoded);
	if (decoded.parts.threads.length > 0 && !decoded.baseSelf)
		decoded.groups.thread = threadGroups(decoded);
	return decoded;
}

function decodeFrames(list, functions) {
	const frames = { function: [], line: [], flags: [] };
	for (let i = 0; i < list.length; i += 3) {
		const [func, line, flags] = list.slice(i, i + 3);
		frames.function.push(func);
		frames.line.push(line);
		frames.flags.push(flags);
		if (flags & FRAME_RESERVED)
			functions[func].reserved = true;
	}
	return frames;
}

/*
 * A group of stacks is a function of no code, with one frame, which can stand above them in a tree.
 * Returns the frame.
 */
function addGroup(profile, name, library, hue) {
	const { functions, frames } = profile;
	frames.function.push(functions.length);
	frames.line.push(0);
	frames.flags.push(0);
	functions.push({
		id: functions.length, name, label: name, file: "", library, line: 0, hue, shade: 5050,
		reserved: false, group: true,
	});
	return frames.function.length - 1;
}

/* For each node, or one of its parts, the frame of the group: the library that asked for memory. */
function libraryGroups(profile) {
	const { functions, frames, parent, frame } = profile;
	const groups = new Map([["", addGroup(profile, "[no library]", "", 0)]]);
	for (const { library, hue } of functions.filter((func) => !func.group)) {
		if (!groups.has(library))
			groups.set(library, addGroup(profile, fileName(library), library, hue));
	}
	return (node) => {
		let asks = node;
		while (asks > 0 && (frames.flags[frame[asks]] & FRAME_ALLOCATOR) !== 0)
			asks = parent[asks];
		return groups.get(asks > 0 ? functions[frames.function[frame[asks]]].library : "");
	};
}

/* The same by the thread of the part. What is no part has none. */
function threadGroups(profile) {
	const { labels, label, threads } = profile.parts;
	const groups = new Map();
	for (const thread of [null, ...threads]) {
		const name = threadName(thread);
		if (!groups.has(name))
			groups.set(name, addGroup(profile, name, "", (groups.size * 137) % 360));
	}
	return (node, part) => groups.get(threadName(part < 0 ? null : threads[labels[label[part]].thread]));
}

function decodeSelf(list, count) {
	const self = new Float64Array(count * 4);
	let node = 0;
	for (let i = 0; i < list.length; i += 5) {
		node += list[i];
		for (let v = 0; v < 4; v++)
			self[4 * node + v] += list[i + 1 + v];
	}
	return self;
}
