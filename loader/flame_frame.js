// SPDX-License-Identifier: MIT
/*
 * What is said of a frame, and the cards that say it: the tooltip and the menus. Names are hostile:
 * they enter the document as text alone.
 */
"use strict";

function nameOf(node) {
	return node === 0 ? "All stacks" : profile.functions[tree.function[node]].name;
}

function frameDetails(node) {
	const func = profile.functions[tree.function[node]];
	const out = [make("div", { className: "frame-name", textContent: nameOf(node) })];
	if (func) {
		const frame = tree.frame[node];
		let place = placeOf(func, tree.mixed[node] ? 0 : profile.frames.line[frame]);
		if (profile.frames.flags[frame] & FRAME_INLINED)
			place += " · inlined";
		if (tree.mixed[node])
			place += " · several lines";
		out.push(make("div", { className: "frame-place", textContent: place }));
	}
	const number = (value) => tree.total[4 * node + value];
	const rows = [];
	if (valueTypes.every((t) => t.known)) {
		for (const [name, objects, bytes] of [["Live", 2, 3], ["Allocated", 0, 1]]) {
			const cell = (value) => make("td", {
				className: value === state.value ? "current" : "", textContent: formatValue(number(value), value),
			});
			rows.push(make("tr", null, make("th", { textContent: name, scope: "row" }), cell(bytes), cell(objects),
				make("td", { textContent: number(objects) > 0 ? formatBytes(number(bytes) / number(objects)) : "–" })));
		}
		const head = make("tr", null, ...["", "bytes", "objects", "mean size"].map((t) => make("th", { textContent: t })));
		out.push(make("table", { className: "frame-values" }, make("thead", null, head), make("tbody", null, ...rows)));
	} else {
		out.push(make("div", { className: "frame-shares" }, make("b", { textContent: formatValue(number(state.value), state.value) })));
	}
	const width = layout.width[node];
	const shares = make("div", { className: "frame-shares" });
	shares.append(make("b", { textContent: formatShare(width, layout.total) }), " of the total");
	if (node > 0 && tree.parent[node] !== 0)
		shares.append(", ", make("b", { textContent: formatShare(width, layout.width[tree.parent[node]]) }),
			state.reverse ? " of its callee" : " of its caller");
	const own = (state.swap ? tree.baseSelf : tree.self)[4 * node + state.value];
	if (own > 0 && own < width)
		shares.append(`; ${formatValue(own, state.value)} by itself`);
	out.push(shares);
	if (tree.baseTotal) {
		const before = tree.baseTotal[4 * node + state.value];
		const change = number(state.value) - before;
		const textContent = `${formatSigned(change, state.value)} (${changeText(node)})`;
		out.push(make("div", { className: "frame-shares" }, "was ", formatValue(before, state.value), ", ",
			make("b", { className: change > 0 ? "grew" : "shrank", textContent })));
	} else if (errors && width > 0) {
		const share = errorShare(errors, node, width);
		const samples = errors.samples[node];
		out.push(make("div", { className: "frame-shares" }, share ? `±${share}, from ` : "from ",
			samples < 1.5 ? "about one sample" : `about ${formatCount(samples)} samples`));
	}
	if (!state.swap && valueTypes[state.value].known)
		out.push(...frameParts(node));
	return out;
}

/* Sizes; then, of what is live, its age, and of what was allocated, how long it lived. */
function frameParts(node) {
	const sums = partSums(tree, node, state.value);
	const { live, bytes } = valueTypes[state.value];
	const unit = bytes ? "bytes" : "objects";
	const freed = lifetimeColumns(sums);
	return [
		...histogram(`Sizes of the blocks, share of ${unit}`, sizeColumns(sums)),
		...(live ? histogram(`Age of what is live, share of ${unit}`, ageColumns(sums, profile.info.duration_ms)) : []),
		...histogram(`Lifetime of what was freed, share of ${unit}`, freed),
	];
}

/* [] when there is nothing to show. */
function histogram(title, columns) {
	if (columns.length === 0)
		return [];
	const sum = columns.reduce((total, column) => total + column[1], 0);
	const most = Math.max(...columns.map((column) => column[1]));
	const bars = columns.map(([label, number]) => {
		const bar = make("span", { className: "column" });
		bar.style.setProperty("--height", (number / most) * 100 + "%");
		const share = number > 0 ? Math.round((100 * number) / sum) : 0;
		return make("div", { "data-share": share }, make("span", { className: "number", textContent: share > 0 ? share + "%" : "" }),
			make("span", { className: "well" }, bar), make("span", { className: "label", textContent: label }));
	});
	return [make("div", { className: "histogram", role: "img", "aria-label": title },
		make("div", { className: "histogram-title", textContent: title }), make("div", { className: "columns-of" }, ...bars))];
}

function labelOf(node) {
	if (node === 0)
		return `All stacks, ${formatValue(layout.total, state.value)}`;
	const func = profile.functions[tree.function[node]];
	const rectangle = view.rectangle(node);
	const line = state.lines && profile.frames.line[tree.frame[node]] > 0 ? ":" + profile.frames.line[tree.frame[node]] : "";
	const full = func.name + line;
	return view.fitter.width(full) <= rectangle.width - 11 ? full : func.label + line;
}

/* At the right of a frame: its share of the whole, or in a comparison how it changed. */
function shareOf(node) {
	if (tree.baseTotal)
		return changeText(node);
	return node === 0 ? "" : formatShare(layout.width[node], layout.total);
}

function describe(node) {
	const canvas = $("canvas");
	const text = node >= 0 && layout.width[node] ?
		`${nameOf(node)}, ${formatValue(layout.width[node], state.value)}, ${formatShare(layout.width[node], layout.total)}` :
		`Flame graph of ${valueTypes[state.value].name.toLowerCase()}, ${formatValue(layout.total, state.value)}`;
	canvas.setAttribute("aria-label", text);
	return text;
}

function select(node) {
	view.selected = node;
	if (node >= 0) {
		view.reveal(node);
		$("spoken").textContent = describe(node);
		const r = view.rectangle(node);
		const box = $("canvas").getBoundingClientRect();
		showTooltip(node, box.left + r.x + Math.min(r.width, 60) / 2, box.top + r.y + ROW_HEIGHT - 8);
	}
	view.redraw();
}

/* --- cards */

function place(card, x, y) {
	card.hidden = false;
	const { offsetWidth, offsetHeight } = card;
	const left = Math.min(x, window.innerWidth - offsetWidth - 8);
	const above = y + offsetHeight > window.innerHeight - 8;
	card.style.left = Math.max(8, left) + "px";
	card.style.top = Math.max(8, above ? y - offsetHeight - 32 : y) + "px";
}

function showTooltip(node, x, y) {
	$("tooltip").replaceChildren(...frameDetails(node));
	place($("tooltip"), x + 12, y + 16);
}

function closeCards() {
	$("tooltip").hidden = true;
	for (const id of ["actions", "share"])
		$(id).hidden = true;
	$("menu-button").setAttribute("aria-expanded", false);
}

function menu(card, entries, x, y) {
	for (const [label, key, run] of entries) {
		const button = make("button", { role: "menuitem", disabled: !run }, label, make("kbd", { textContent: key }));
		button.addEventListener("click", () => {
			closeCards();
			$("canvas").focus({ preventScroll: true });
			run();
		});
		card.append(button);
	}
	place(card, x, y);
	card.querySelector("button").focus();
}

function openActions(node, x, y) {
	closeCards();
	const func = tree.function[node];
	view.selected = node;
	view.redraw();
	$("actions").replaceChildren(make("div", { className: "summary" }, ...frameDetails(node)));
	const entries = [["Zoom to this frame", "Enter", () => zoomTo(node)]];
	if (func >= 0 && !profile.functions[func].group)
		entries.push(
			["Callers and callees", "s", () => showFunction(func)],
			["Focus: only stacks with this function", "f", () => addFilter("only", func)],
			["Hide: remove stacks with this function", "h", () => addFilter("without", func)],
			["Fold: give it to its callers", "k", () => addFilter("folded", func)],
			["Search for this function", "", () => setSearch("is:" + profile.functions[func].name, false)]);
	if (node > 0)
		entries.push(["Copy the stack, folded", "y", () => copyStack(node)]);
	menu($("actions"), entries, x, y);
}

function openShare() {
	closeCards();
	const box = $("menu-button").getBoundingClientRect();
	const hasPprof = $("pprof").textContent !== "";
	$("share").replaceChildren();
	$("menu-button").setAttribute("aria-expanded", true);
	menu($("share"), [
		["Copy a link to this view", "", () => copy(location.href)],
		["Save folded stacks (.folded)", "", saveFolded],
		hasPprof ? ["Save the profile (.pb.gz)", "", savePprof] : ["Save the profile (.pb.gz)", "too large for a page", null],
		["Print", "", () => window.print()],
	], box.left, box.bottom + 4);
}
