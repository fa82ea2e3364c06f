// SPDX-License-Identifier: MIT
/*
 * What is shown: `state`, and how it is written in the address after the #, so that a link shows
 * the same view of the same file.
 */
"use strict";

/* The switches of the toolbar; in the address by name. */
const TOGGLES = [
	{ id: "flip", key: "i", label: "Flip", hint: "Root at the bottom" },
	{ id: "reverse", key: "r", label: "Bottom-up", hint: "Merge stacks from their ends: who asks for memory, from whichever caller" },
	{ id: "collapse", key: "c", label: "Collapse recursion", hint: "Draw a function that calls itself once" },
	{ id: "lines", key: "e", label: "Lines", hint: "One frame for each line of a function" },
	{ id: "allocator", key: "m", label: "Allocator", hint: "Show the frames of malloc and operator new" },
	{ id: "swap", key: "x", label: "Swap", hint: "Widths of the older profile", diff: true },
];
/* What can stand in a first row above the stacks, and what each stack belongs to. */
const GROUPS = [
	{ id: "", label: "nothing" },
	{ id: "library", label: "library" },
	{ id: "thread", label: "thread" },
];
const FILTERS = ["only", "without", "folded"];

const KEYS = [
	["← ↑ → ↓", "move between frames"],
	["Enter", "zoom to the frame"],
	["⌫", "zoom out one frame"],
	["0", "the whole picture"],
	["/", "search"],
	["n N", "next, previous match"],
	["l a", "live, allocated"],
	["b o", "bytes, objects"],
	["f h k", "focus, hide, fold the frame"],
	["u", "undo the last filter"],
	[".", "actions of the frame"],
	["s", "callers and callees"],
	["y", "copy the stack; with the mouse: Alt and click"],
	["g", "group by library or thread"],
	["t", "picture, functions, both"],
	["d", "light or dark"],
	["+ − ⇧← ⇧→", "magnify, move; with the mouse: Ctrl and wheel, drag"],
	["Esc", "close, clear"],
];

const state = {
	value: 3, q: "", regex: false, only: [], without: [], folded: [],
	view: "graph", group: "", zoom: [], func: -1, theme: "",
};
for (const toggle of TOGGLES)
	state[toggle.id] = false;

function stateToHash() {
	const parts = new URLSearchParams();
	if (state.value !== profile.show)
		parts.set("show", valueTypes[state.value].slug);
	if (state.view !== defaultView())
		parts.set("view", state.view);
	for (const toggle of TOGGLES) {
		if (state[toggle.id] !== defaultOf(toggle))
			parts.set(toggle.id, state[toggle.id] ? "1" : "0");
	}
	if (state.group !== "")
		parts.set("group", state.group);
	for (const kind of FILTERS) {
		if (state[kind].length > 0)
			parts.set(kind, state[kind].join("."));
	}
	if (state.q !== "")
		parts.set("q", state.q);
	if (state.regex)
		parts.set("regex", "1");
	if (state.zoom.length > 0)
		parts.set("zoom", state.zoom.join("."));
	if (state.func >= 0)
		parts.set("function", state.func);
	if (state.theme !== "")
		parts.set("theme", state.theme);
	return "#" + parts.toString();
}

function stateFromHash() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const numbers = (name, limit) =>
		(parts.get(name) || "").split(".").filter((s) => /^\d+$/.test(s)).map(Number)
			.filter((n) => n < limit);
	const count = profile.functions.findIndex((func) => func.group); // those of code
	const shown = valueTypes.findIndex((t) => t.there && t.slug === parts.get("show"));
	state.value = shown >= 0 ? shown : profile.show;
	state.view = ["graph", "table", "both"].includes(parts.get("view")) ? parts.get("view") : defaultView();
	for (const toggle of TOGGLES)
		state[toggle.id] = parts.has(toggle.id) && (!toggle.diff || profile.baseSelf !== null) ?
			parts.get(toggle.id) === "1" : defaultOf(toggle);
	state.group = profile.groups[parts.get("group")] ? parts.get("group") : "";
	for (const kind of FILTERS)
		state[kind] = numbers(kind, count);
	state.q = parts.get("q") || "";
	state.regex = parts.get("regex") === "1";
	state.zoom = numbers("zoom", Math.max(profile.functions.length, profile.frames.function.length));
	state.func = numbers("function", count)[0] ?? -1;
	state.theme = ["light", "dark"].includes(parts.get("theme")) ? parts.get("theme") : "";
}

/* Whoever made the file chose whether the allocator's frames are shown. */
function defaultOf(toggle) {
	return toggle.id === "allocator" && profile.allocator;
}

function defaultView() {
	return window.innerWidth >= 1800 ? "both" : "graph";
}
