// SPDX-License-Identifier: MIT
/* The page: every control changes `state` and calls update(), which draws what follows from it. */
"use strict";

const $ = (id) => document.getElementById(id);

let profile;
let view;
let table;
let tree;
let layout;
let errors;
let search;
let treeKey = "";
let palette = null;

/* push: the change gets an entry of its own in the history, so that the browser's Back undoes it. */
function update(push = false) {
	const hash = stateToHash();
	try {
		if (hash !== (location.hash || "#"))
			history[push ? "pushState" : "replaceState"](null, "", hash);
	} catch (error) {
		// Some browsers allow a hundred of these in half a minute; the next one is in time.
	}
	render(false);
}

/* --- deriving and drawing */

function treeOptions() {
	return {
		only: state.only, without: state.without, folded: state.folded,
		byLine: state.lines, collapse: state.collapse, allocator: state.allocator, group: "",
	};
}

function nodeKey(node) {
	return state.lines ? tree.frame[node] : tree.function[node];
}

/* The node that state.zoom names, or the deepest of its ancestors that is there. */
function zoomedNode() {
	let node = 0;
	for (const key of state.zoom) {
		let next = -1;
		for (let i = tree.firstChild[node]; i < tree.firstChild[node + 1] && next < 0; i++)
			next = nodeKey(tree.children[i]) === key ? tree.children[i] : -1;
		if (next < 0 || !layout.width[next])
			break;
		node = next;
	}
	return node;
}

let functionTree; // as `tree`, but from the roots down whatever is drawn: the tables are its

function render(first) {
	applyTheme();
	const wanted = JSON.stringify([treeOptions(), state.reverse, state.group]);
	const layoutWanted = JSON.stringify([wanted, state.value, state.swap]);
	if (treeKey !== wanted) {
		functionTree = buildTree(profile, treeOptions());
		tree = state.reverse || state.group !== "" ?
			buildTree(profile, { ...treeOptions(), bottomUp: state.reverse, group: state.group }) : functionTree;
		treeKey = wanted;
	}
	view.flip = state.flip;
	const changed = view.layoutKey !== layoutWanted;
	if (changed) {
		layout = layoutTree(tree, state.value, state.swap);
		errors = samplingError(tree, state.value);
		view.selected = -1;
		view.layoutKey = layoutWanted;
		closeCards();
		view.setLayout(layout, zoomedNode());
	} else if (zoomedNode() !== view.zoomed) {
		view.zoom(zoomedNode(), !first);
	}
	renderSearch();
	renderHeader();
	renderTrail();
	renderControls();
	renderTables();
	$("empty").hidden = layout.total > 0;
	$("empty").textContent = state.only.length + state.without.length > 0 ?
		"No stack passes the filters." : `No ${valueTypes[state.value].name.toLowerCase()} in this profile.`;
	view.resize();
	describe(view.selected);
}

function applyTheme() {
	const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	const name = dark && !view.printing ? "dark" : "light";
	if (document.documentElement.dataset.theme === name && palette)
		return;
	document.documentElement.dataset.theme = name;
	view.palette = palette = new Palette(profile, name === "dark");
}

function renderSearch() {
	search = compileSearch(profile, state.q, state.regex);
	search.hits = { sum: 0, outermost: [] };
	view.matched = search.any ? search.matched : null;
	if (document.activeElement !== $("search-text"))
		$("search-text").value = state.q;
	$("search-regex").setAttribute("aria-pressed", state.regex);
	$("search-result").className = search.error ? "error" : "";
	if (search.any)
		search.hits = measureSearch(layout, search.matched);
	$("search-result").textContent = search.error || (search.any ? formatShare(search.hits.sum, layout.total) : "");
	$("search-result").title = search.any ?
		`${formatValue(search.hits.sum, state.value)} in stacks that match` : "";
	for (const id of ["search-previous", "search-next"])
		$(id).disabled = search.hits.outermost.length === 0;
}

function renderTrail() {
	const steps = tree.path(view.zoomed);
	const buttons = [];
	const add = (node, text) => {
		const button = make("button", { textContent: text, title: text });
		if (node === view.zoomed)
			button.setAttribute("aria-current", "true");
		button.addEventListener("click", () => zoomTo(node));
		if (buttons.length > 0)
			buttons.push(make("span", { className: "step", textContent: "›" }));
		buttons.push(button);
	};
	add(0, "All stacks");
	if (steps.length > 4)
		buttons.push(make("span", { className: "step", textContent: "› …" }));
	for (const node of steps.slice(-4))
		add(node, profile.functions[tree.function[node]].label);
	$("path").replaceChildren(...buttons);

	const chips = [];
	for (const kind of FILTERS) {
		for (const func of state[kind]) {
			const text = `${kind} ${profile.functions[func].label} ×`;
			const chip = make("button", { textContent: text, title: "Remove this filter" });
			chip.addEventListener("click", () => {
				state[kind] = state[kind].filter((f) => f !== func);
				update(true);
			});
			chips.push(chip);
		}
	}
	$("filters").replaceChildren(...chips);
	renderLegend();
}

/* The libraries that hold most, by the function that asked for the memory. */
function renderLegend() {
	if (profile.baseSelf) {
		$("legend").replaceChildren(...goneButton(), make("span", { className: "scale" }, "shrank", changeScale(), "grew"));
		return;
	}
	const sums = functionSums(functionTree, state.value);
	const libraries = new Map();
	for (const func of profile.functions) {
		if (func.library === "" || !sums.self[func.id])
			continue;
		const entry = libraries.get(func.library) || { func, sum: 0 };
		entry.sum += sums.self[func.id];
		libraries.set(func.library, entry);
	}
	const largest = [...libraries].sort((a, b) => b[1].sum - a[1].sum).slice(0, window.innerWidth < 700 ? 2 : 6);
	$("legend").replaceChildren(...largest.map(([library, { func, sum }]) => {
		const swatch = make("span", { className: "swatch" });
		swatch.style.background = oklch(palette.theme.swatch, palette.theme.chroma * 1.35, func.hue);
		const button = make("button", { title: `${library}: ${formatValue(sum, state.value)}. Click to search for it.` },
			swatch, `${fileName(library)} ${formatShare(sum, layout.total)}`);
		const q = "lib:" + fileName(library);
		button.addEventListener("click", () => setSearch(state.q === q ? "" : q, false));
		return button;
	}));
}

function renderControls() {
	$("group").value = state.group;
	for (const button of $("toggles").children)
		button.setAttribute("aria-pressed", state[button.dataset.toggle]);
	for (const button of $("views").children) {
		const chosen = button.dataset.view === state.view;
		button.setAttribute("aria-checked", chosen);
		button.tabIndex = chosen ? 0 : -1;
	}
}

function renderTables() {
	document.querySelector("main").className = state.view + " scripted";
	$("graph").hidden = state.view === "table";
	$("tables").hidden = state.view === "graph";
	if (state.view === "graph")
		return;
	table.chosen = state.func;
	table.render();
	table.choose(state.func);
}

/* --- what can be done */

function zoomTo(node) {
	state.zoom = tree.path(node).map(nodeKey);
	view.zoom(node, true); // also when it is zoomed to but has been moved away from
	update(true);
	view.reveal(node);
}

function zoomOut() {
	if (view.zoomed !== 0)
		zoomTo(tree.parent[view.zoomed]);
	else
		view.zoom(0, true);
}

function setValue(live, bytes) {
	const now = valueTypes[state.value];
	const wanted = valueTypes.findIndex((t) => t.there && t.known &&
		t.live === (live ?? now.live) && t.bytes === (bytes ?? now.bytes));
	if (wanted >= 0) {
		state.value = wanted;
		update();
	}
}

function setSearch(text, regex) {
	state.q = text;
	state.regex = regex;
	$("search-text").value = text;
	update();
}

let searchAt = -1;

function nextMatch(step) {
	const { outermost } = search.hits;
	if (outermost.length === 0)
		return;
	const current = outermost.indexOf(view.selected);
	const from = current >= 0 ? current : step > 0 ? -1 : 0;
	searchAt = (from + step + outermost.length) % outermost.length;
	const node = outermost[searchAt];
	const { x0, width } = layout;
	const inSight = x0[node] >= view.window.x0 - 1e-9 * layout.total &&
		x0[node] + width[node] <= view.window.x1 + 1e-9 * layout.total;
	if (!inSight) {
		state.zoom = [];
		update(true);
	}
	select(node);
	$("search-result").textContent =
		`${formatShare(search.hits.sum, layout.total)} · ${searchAt + 1}/${outermost.length}`;
}

function addFilter(kind, func) {
	if (func < 0 || state[kind].includes(func))
		return;
	state[kind] = [...state[kind], func];
	state.last = [...(state.last || []), kind];
	if (kind !== "only")
		state.zoom = [];
	update(true);
	$("spoken").textContent = `${kind} ${profile.functions[func].name}: ${formatValue(layout.total, state.value)}`;
}

function undoFilter() {
	const kind = state.last && state.last.length > 0 ? state.last.pop() :
		FILTERS.find((k) => state[k].length > 0);
	if (kind) {
		state[kind] = state[kind].slice(0, -1);
		update(true);
	}
}

function showFunction(func) {
	state.func = func;
	if (func >= 0 && state.view === "graph")
		state.view = window.innerWidth >= 1100 ? "both" : "table";
	update(true);
}

function cycle(list, now) {
	return list[(list.indexOf(now) + 1) % list.length];
}

function download(extension, type, content) {
	const name = (profile.info.comm || "profile").replace(/[^\w.-]+/g, "_") + extension;
	const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveFolded() {
	download(`-${valueTypes[state.value].slug}.folded`, "text/plain", foldedStacks(functionTree, state.value));
}

/* The recording itself, with all values and whatever the picture is filtered by. */
function savePprof() {
	const bytes = Uint8Array.from(atob($("pprof").textContent), (c) => c.charCodeAt(0));
	download(".pb.gz", "application/gzip", bytes);
}

async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		const area = make("textarea", { value: text, className: "unseen" });
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	notify("copied");
}

function copyStack(node) {
	const nodes = tree.path(node).filter((n) => !profile.functions[tree.function[n]].group);
	const names = nodes.map((n) => foldedName(profile.functions[tree.function[n]]));
	if (state.reverse)
		names.reverse();
	copy(`${names.join(";")} ${layout.width[node]}`);
}

/* Says something for a moment. */
function notify(text) {
	$("spoken").textContent = $("notice").textContent = text;
	$("notice").hidden = false;
	clearTimeout(notify.timer);
	notify.timer = setTimeout(() => ($("notice").hidden = true), 1500);
}

function groupsThere() {
	return GROUPS.filter((group) => group.id === "" || profile.groups[group.id]);
}

function setGroup(id) {
	state.group = id;
	state.zoom = [];
	update();
}

/* --- setting up */

function buildControls() {
	for (const toggle of TOGGLES) {
		if (toggle.diff && !profile.baseSelf)
			continue;
		const button = make("button", { textContent: toggle.label, title: `${toggle.hint} (${toggle.key})`, "data-toggle": toggle.id });
		button.addEventListener("click", () => toggleState(toggle.id));
		$("toggles").append(button);
	}
	for (const group of groupsThere())
		$("group").append(make("option", { value: group.id, textContent: group.label }));
	$("group").addEventListener("change", () => setGroup($("group").value));
	for (const [id, label] of [["graph", "Picture"], ["table", "Functions"], ["both", "Both"]]) {
		const button = make("button", { role: "radio", textContent: label, "data-view": id, title: "Picture, functions, or both (t)" });
		button.addEventListener("click", () => {
			state.view = id;
			update();
		});
		$("views").append(button);
	}
	for (const group of [$("values"), $("views")])
		group.addEventListener("keydown", radioKeys);
	const toggles = TOGGLES.filter((toggle) => !toggle.diff || profile.baseSelf);
	for (const [key, text] of [...KEYS, ...toggles.map((toggle) => [toggle.key, toggle.label.toLowerCase()])])
		$("keys").append(make("dt", null, make("kbd", { textContent: key })), make("dd", { textContent: text }));

	$("search-text").addEventListener("input", (event) => setSearch(event.target.value, state.regex));
	$("search-text").addEventListener("keydown", (event) => {
		if (event.key === "Enter")
			nextMatch(event.shiftKey ? -1 : 1);
	});
	$("search-regex").addEventListener("click", () => setSearch(state.q, !state.regex));
	$("search-next").addEventListener("click", () => nextMatch(1));
	$("search-previous").addEventListener("click", () => nextMatch(-1));
	$("help-button").addEventListener("click", () => $("help").showModal());
	$("menu-button").addEventListener("click", () => ($("share").hidden ? openShare() : closeCards()));
	$("theme-button").addEventListener("click", toggleTheme);
	$("options-button").addEventListener("click", () => {
		const open = $("toggles").classList.toggle("open");
		$("options-button").setAttribute("aria-expanded", open);
	});
	for (const dialog of [$("help"), $("gone")])
		dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}

function toggleState(id) {
	state[id] = !state[id];
	if (id === "reverse" || id === "lines")
		state.zoom = [];
	update();
	if (id === "flip")
		$("scroller").scrollTop = state.flip ? $("scroller").scrollHeight : 0;
}

function toggleTheme() {
	state.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
	update();
}

function radioKeys(event) {
	const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
	if (!step)
		return;
	event.preventDefault();
	event.stopPropagation();
	const items = [...event.currentTarget.children];
	const next = items[(items.indexOf(document.activeElement) + step + items.length) % items.length];
	next.click();
	next.focus();
}

function forPrint(printing) {
	view.printing = printing;
	table.shown = printing ? 20 : TABLE_PAGE;
	render(false);
	if (printing) {
		table.render();
		$("tables").hidden = false;
	}
}

function start() {
	document.documentElement.classList.add("ready");
	profile = decodeProfile(JSON.parse($("profile").textContent));
	$("profile").remove();
	document.body.classList.toggle("diff", profile.baseSelf !== null);
	view = new FlameView($("scroller"), $("sizer"), $("canvas"));
	view.labelOf = labelOf;
	view.shareOf = shareOf;
	table = new FunctionTable($("functions"), $("sandwich"),
		() => ({ tree: functionTree, value: state.value, palette, swap: state.swap, matched: search.any ? search.matched : null }),
		{
			choose: showFunction,
			filter: addFilter,
			show: (func) => {
				state.view = "graph";
				setSearch("is:" + profile.functions[func].name, false);
				nextMatch(1);
			},
		});
	buildHeader();
	buildControls();
	buildPointer();
	document.addEventListener("keydown", onKey);
	const readAddress = () => {
		stateFromHash();
		render(false);
	};
	window.addEventListener("popstate", readAddress);
	window.addEventListener("hashchange", readAddress);
	window.addEventListener("beforeprint", () => forPrint(true));
	window.addEventListener("afterprint", () => forPrint(false));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => render(false));
	stateFromHash();
	render(true);
}

document.addEventListener("DOMContentLoaded", start);
