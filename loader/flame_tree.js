// SPDX-License-Identifier: MIT
/*
 * The trees that are drawn from a profile, and what is summed up over them. Nothing here touches
 * the document.
 */
"use strict";

/*
 * Nodes are numbers, 0 is the root, and a parent's number is less than its children's.
 * function[n] is -1 for the root. mixed[n]: several lines of the function were merged.
 */
class Tree {
	constructor(profile, room) {
		this.profile = profile;
		this.count = 0;
		this.index = new Map();
		this.parent = new Int32Array(room);
		this.function = new Int32Array(room);
		this.frame = new Int32Array(room);
		this.mixed = new Uint8Array(room);
		this.self = new Float64Array(room * 4);
		this.baseSelf = profile.baseSelf ? new Float64Array(room * 4) : null;
		this.partAt = new Int32Array(profile.parts.count).fill(-1); // the node of each part
		this.add(-1, -1, -1);
	}

	add(parent, func, frame) {
		if (this.count === this.parent.length)
			this.grow();
		const node = this.count++;
		this.parent[node] = parent;
		this.function[node] = func;
		this.frame[node] = frame;
		return node;
	}

	grow() {
		for (const name of ["parent", "function", "frame", "mixed", "self", "baseSelf"]) {
			if (!this[name])
				continue;
			const old = this[name];
			this[name] = new old.constructor(old.length * 2);
			this[name].set(old);
		}
	}

	/* The child of a node for a frame, made if it is not there. */
	child(parent, frame, byLine) {
		const func = this.profile.frames.function[frame];
		const key = parent * 2 ** 26 + (byLine ? frame : func);
		let node = this.index.get(key);
		if (node === undefined) {
			node = this.add(parent, func, frame);
			this.index.set(key, node);
		} else if (this.frame[node] !== frame) {
			this.mixed[node] = 1;
		}
		return node;
	}

	/* The nearest of a node and its ancestors that is this function, or -1. */
	enclosing(node, func) {
		while (node > 0 && this.function[node] !== func)
			node = this.parent[node];
		return node > 0 ? node : -1;
	}

	addSelf(node, raw) {
		const { self, baseSelf, parts } = this.profile;
		for (let v = 0; v < 4; v++) {
			this.self[4 * node + v] += self[4 * raw + v];
			if (baseSelf)
				this.baseSelf[4 * node + v] += baseSelf[4 * raw + v];
		}
		this.partAt.fill(node, parts.first[raw], parts.first[raw + 1]);
	}

	/* Moves one part of what has been added, which belongs to another group of stacks. */
	movePart(part, node) {
		const { value } = this.profile.parts;
		const from = this.partAt[part];
		for (let v = 0; v < 4; v++) {
			this.self[4 * from + v] -= value[4 * part + v];
			this.self[4 * node + v] += value[4 * part + v];
		}
		this.partAt[part] = node;
	}

	/* Totals from self values, and the children of each node, side by side. */
	finish() {
		this.index = null;
		this.total = this.sum(this.self);
		this.baseTotal = this.baseSelf ? this.sum(this.baseSelf) : null;
		this.firstChild = new Int32Array(this.count + 1);
		for (let n = 1; n < this.count; n++)
			this.firstChild[this.parent[n] + 1]++;
		for (let n = 0; n < this.count; n++)
			this.firstChild[n + 1] += this.firstChild[n];
		this.children = new Int32Array(this.count);
		const next = this.firstChild.slice();
		for (let n = 1; n < this.count; n++)
			this.children[next[this.parent[n]]++] = n;
		return this;
	}

	sum(self) {
		const total = self.slice(0, this.count * 4);
		for (let n = this.count - 1; n > 0; n--) {
			for (let v = 0; v < 4; v++)
				total[4 * this.parent[n] + v] += total[4 * n + v];
		}
		return total;
	}

	/* Functions from the root to a node, the root left out. */
	path(node) {
		const path = [];
		for (; node > 0; node = this.parent[node])
			path.push(node);
		return path.reverse();
	}
}

/* Which raw nodes' own values pass the filters: those under all of `only` and under none of `without`. */
function keptNodes(profile, options) {
	const { parent, frame, frames, count } = profile;
	const only = new Map(options.only.slice(0, 30).map((func, i) => [func, 1 << i]));
	const all = (1 << only.size) - 1;
	const without = new Set(options.without);
	const seen = new Int32Array(count); // bits of `only`; -1: under a frame of `without`
	const kept = new Uint8Array(count);
	kept[0] = only.size === 0 ? 1 : 0;
	for (let n = 1; n < count; n++) {
		const func = frames.function[frame[n]];
		const above = seen[parent[n]];
		seen[n] = above < 0 || without.has(func) ? -1 : above | (only.get(func) || 0);
		kept[n] = seen[n] === all ? 1 : 0;
	}
	return kept;
}

function hasSelf(profile, node) {
	for (let v = 4 * node; v < 4 * node + 4; v++) {
		if (profile.self[v] !== 0 || (profile.baseSelf && profile.baseSelf[v] !== 0))
			return true;
	}
	return false;
}

/*
 * options: only, without, folded: lists of functions; byLine, collapse, allocator (show its
 * frames), bottomUp, group (of profile.groups, or ""). Folding a frame gives its children and its
 * own value to its caller.
 */
function buildTree(profile, options) {
	const { parent, frame, frames, count } = profile;
	const folded = new Set(options.folded);

	const kept = keptNodes(profile, options);
	const used = new Uint8Array(count);
	for (let n = count - 1; n >= 0; n--) {
		kept[n] = kept[n] && hasSelf(profile, n) ? 1 : 0;
		used[n] |= kept[n];
		if (used[n] && n > 0)
			used[parent[n]] = 1;
	}

	const tree = new Tree(profile, count);
	const step = (at, raw) => {
		const func = frames.function[frame[raw]];
		if (!options.allocator && (frames.flags[frame[raw]] & FRAME_ALLOCATOR) !== 0)
			return at;
		if (folded.has(func))
			return at;
		const outer = options.collapse ? tree.enclosing(at, func) : -1;
		return outer > 0 ? outer : tree.child(at, frame[raw], options.byLine);
	};
	if (options.bottomUp || options.group) {
		const groupOf = options.group ? profile.groups[options.group] : null;
		for (let n = 0; n < count; n++) {
			if (!kept[n])
				continue;
			const path = [];
			for (let raw = n; raw > 0; raw = parent[raw])
				path.push(raw);
			if (!options.bottomUp)
				path.reverse();
			const under = (group) => {
				let at = group >= 0 ? tree.child(0, group, options.byLine) : 0;
				for (const raw of path)
					at = step(at, raw);
				return at;
			};
			const { first } = profile.parts;
			tree.addSelf(under(groupOf ? groupOf(n, -1) : -1), n);
			for (let part = first[n]; groupOf && part < first[n + 1]; part++)
				tree.movePart(part, under(groupOf(n, part)));
		}
	} else {
		const at = new Int32Array(count);
		for (let n = 0; n < count; n++) {
			if (!used[n])
				continue;
			if (n > 0)
				at[n] = step(at[parent[n]], n);
			if (kept[n])
				tree.addSelf(at[n], n);
		}
	}
	return tree.finish();
}

/*
 * Where each node stands for one value: x0[n] to x0[n] + width[n], in units of the value, the
 * largest child at the left. rows[d]: the nodes of depth d that have a width, from left to right.
 */
function layoutTree(tree, value, useBase) {
	const total = useBase ? tree.baseTotal : tree.total;
	const width = new Float64Array(tree.count);
	for (let n = 0; n < tree.count; n++)
		width[n] = Math.max(0, total[4 * n + value]);
	const x0 = new Float64Array(tree.count);
	const depth = new Int32Array(tree.count);
	const rows = [[0]];
	for (let d = 0; rows[d].length > 0; d++) {
		const row = [];
		for (const node of rows[d]) {
			depth[node] = d;
			const children = tree.children
				.subarray(tree.firstChild[node], tree.firstChild[node + 1])
				.filter((n) => width[n] > 0)
				.sort((a, b) => width[b] - width[a] || a - b);
			let x = x0[node];
			for (const n of children) {
				x0[n] = x;
				x += width[n];
				row.push(n);
			}
		}
		rows.push(row);
	}
	rows.pop();
	return { tree, value, useBase, width, x0, depth, rows, total: width[0] };
}

/* The last node of a row that starts at or before x, by its index in the row; -1: none. */
function findInRow(layout, row, x) {
	let low = 0;
	let high = row.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (layout.x0[row[middle]] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* --- what the tables and the search need */

/* matches(func) for each function: substring or regex, `lib:` and `file:` choose what is searched. */
function compileSearch(profile, text, regex) {
	const result = { matched: new Uint8Array(profile.functions.length), error: "", any: false };
	const [, field, term] = /^(?:(lib|file|is):)?(.*)$/s.exec(text);
	if (term === "")
		return result;
	const subject = {
		lib: (f) => f.library,
		file: (f) => f.file,
		is: (f) => f.name,
		undefined: (f) => f.name,
	}[field];
	let test = (s) => s.toLowerCase().includes(term.toLowerCase());
	if (field === "is") {
		test = (s) => s === term;
	} else if (regex) {
		try {
			const expression = new RegExp(term, "i");
			test = (s) => expression.test(s);
		} catch (error) {
			result.error = "not a regular expression";
			return result;
		}
	}
	result.any = true;
	for (const func of profile.functions)
		result.matched[func.id] = !func.group && test(subject(func)) ? 1 : 0;
	return result;
}

/* What matched, a stack with several matches counted once, and the outermost matches in x order. */
function measureSearch(layout, matched) {
	const { tree } = layout;
	const covered = new Uint8Array(tree.count);
	let sum = 0;
	const outermost = [];
	for (let n = 1; n < tree.count; n++) {
		const hit = matched[tree.function[n]];
		covered[n] = covered[tree.parent[n]] | hit;
		if (hit && !covered[tree.parent[n]] && layout.width[n] > 0) {
			sum += layout.width[n];
			outermost.push(n);
		}
	}
	outermost.sort((a, b) => layout.x0[a] - layout.x0[b]);
	return { sum, outermost };
}

/* Self and total of each function, recursion counted once, for one value. */
function functionSums(tree, value) {
	const size = tree.profile.functions.length;
	const sums = {
		self: new Float64Array(size),
		total: new Float64Array(size),
		baseSelf: tree.baseSelf ? new Float64Array(size) : null,
		baseTotal: tree.baseSelf ? new Float64Array(size) : null,
		present: new Uint8Array(size),
	};
	const open = new Int32Array(size); // how often a function is on the path of the walk
	const stack = [0];
	while (stack.length > 0) {
		const node = stack.pop();
		if (node < 0) {
			open[tree.function[-node]]--;
			continue;
		}
		const func = tree.function[node];
		if (func >= 0) {
			sums.present[func] = 1;
			sums.self[func] += tree.self[4 * node + value];
			if (sums.baseSelf)
				sums.baseSelf[func] += tree.baseSelf[4 * node + value];
			if (open[func]++ === 0) {
				sums.total[func] += tree.total[4 * node + value];
				if (sums.baseTotal)
					sums.baseTotal[func] += tree.baseTotal[4 * node + value];
			}
			stack.push(-node);
		}
		for (let i = tree.firstChild[node]; i < tree.firstChild[node + 1]; i++)
			stack.push(tree.children[i]);
	}
	return sums;
}

/*
 * Who calls a function and what it calls. A stack in which it occurs several times is filed under
 * the caller of the outermost and the callee of the innermost, so that the callers, and the
 * callees with the function's own value, each add up to its total. Keys: functions, -1: the root.
 */
function callersAndCallees(tree, func, value) {
	const callers = new Map();
	const callees = new Map();
	const add = (map, key, number) => map.set(key, (map.get(key) || 0) + number);
	const outside = -2;
	const itself = -1;
	const below = new Int32Array(tree.count).fill(outside);
	let self = 0;
	for (let n = 1; n < tree.count; n++) {
		const above = below[tree.parent[n]];
		if (tree.function[n] === func) {
			if (above === outside)
				add(callers, tree.function[tree.parent[n]], tree.total[4 * n + value]);
			below[n] = itself;
		} else {
			below[n] = above === itself ? tree.function[n] : above;
		}
		const own = tree.self[4 * n + value];
		if (below[n] === itself)
			self += own;
		else if (below[n] !== outside && own !== 0)
			add(callees, below[n], own);
	}
	const sorted = (map) => [...map].filter((e) => e[1] !== 0).sort((a, b) => b[1] - a[1]);
	return { callers: sorted(callers), callees: sorted(callees), self };
}

function foldedName(func) {
	return func.name.replace(/[;\r\n]/g, ":");
}

/* Each stack as "root;...;leaf number", as flamegraph.pl reads it. */
function foldedStacks(tree, value) {
	const { functions } = tree.profile;
	const lines = [];
	const prefix = new Array(tree.count).fill("");
	for (let n = 0; n < tree.count; n++) {
		if (n > 0) {
			const above = prefix[tree.parent[n]];
			const name = foldedName(functions[tree.function[n]]);
			prefix[n] = above === "" ? name : above + ";" + name;
		}
		const own = tree.self[4 * n + value];
		if (own > 0)
			lines.push((prefix[n] || "[root]") + " " + own);
	}
	return lines.join("\n") + "\n";
}
