// SPDX-License-Identifier: MIT
/* Mouse, finger and keyboard on the picture. All that the mouse can do the keyboard can. */
"use strict";

function pointOf(event) {
	const box = $("canvas").getBoundingClientRect();
	return [event.clientX - box.left, event.clientY - box.top];
}

function buildPointer() {
	const canvas = $("canvas");
	let drag = null;
	canvas.addEventListener("pointermove", (event) => {
		if (drag && event.buttons === 1) {
			const moved = event.clientX - drag.x;
			drag.far = drag.far || Math.abs(moved) > 4;
			if (drag.far) {
				const shift = -moved / view.scale();
				view.pan(drag.window.x0 + shift, drag.window.x1 + shift);
				$("tooltip").hidden = true;
				canvas.style.cursor = "grabbing";
			}
			return;
		}
		if (event.pointerType === "touch" || !$("actions").hidden)
			return;
		const node = view.nodeAt(...pointOf(event));
		if (node !== view.hover) {
			view.hover = node;
			view.redraw();
		}
		canvas.style.cursor = node >= 0 ? "pointer" : "default";
		if (node >= 0)
			showTooltip(node, event.clientX, event.clientY);
		else
			$("tooltip").hidden = true;
	});
	canvas.addEventListener("pointerdown", (event) => {
		drag = { x: event.clientX, window: view.window, far: false };
		if (event.button === 0 && event.pointerType === "mouse")
			canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointerleave", () => {
		view.hover = -1;
		$("tooltip").hidden = true;
		view.redraw();
	});
	canvas.addEventListener("click", (event) => {
		const dragged = drag && drag.far;
		drag = null;
		canvas.style.cursor = "pointer";
		const node = view.nodeAt(...pointOf(event));
		if (dragged || node < 0)
			return;
		const open = !$("actions").hidden;
		closeCards();
		if (event.pointerType === "touch" && !(open && view.selected === node)) {
			openActions(node, event.clientX, event.clientY);
			return;
		}
		if (event.altKey) {
			copyStack(node);
			return;
		}
		view.selected = -1;
		zoomTo(node);
	});
	canvas.addEventListener("contextmenu", (event) => {
		const node = view.nodeAt(...pointOf(event));
		if (node < 0)
			return;
		event.preventDefault();
		openActions(node, event.clientX, event.clientY);
	});
	canvas.addEventListener("wheel", (event) => {
		const { x0, x1 } = view.window;
		if (event.ctrlKey || event.metaKey) {
			const factor = Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.06 : 0.003));
			const at = x0 + pointOf(event)[0] / view.scale();
			view.pan(at - (at - x0) * factor, at + (x1 - at) * factor);
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			const shift = (event.deltaX || event.deltaY) / view.scale();
			view.pan(x0 + shift, x1 + shift);
		} else {
			return;
		}
		event.preventDefault();
	}, { passive: false });
	document.addEventListener("pointerdown", (event) => {
		if (!event.target.closest(".card, #menu-button, #canvas"))
			closeCards();
		else if (event.target === canvas && event.button === 0 && event.pointerType === "mouse")
			$("actions").hidden = $("share").hidden = true;
	});
}

/* The frame that an arrow leads to from the selected one. */
function neighbour(direction) {
	const from = view.selected;
	if (from < 0)
		return view.zoomed;
	const down = state.flip ? "ArrowUp" : "ArrowDown";
	if (direction === down) {
		const row = layout.rows[layout.depth[from] + 1];
		const i = row ? findInRow(layout, row, layout.x0[from]) : -1;
		return i >= 0 && tree.parent[row[i]] === from ? row[i] : from;
	}
	if (direction === "ArrowUp" || direction === "ArrowDown")
		return from > 0 ? tree.parent[from] : from;
	const row = layout.rows[layout.depth[from]];
	const i = findInRow(layout, row, layout.x0[from]) + (direction === "ArrowRight" ? 1 : -1);
	const next = row[i];
	const { x0, x1 } = view.window;
	return next !== undefined && layout.x0[next] < x1 && layout.x0[next] + layout.width[next] > x0 ? next : from;
}

function magnify(factor) {
	const { x0, x1 } = view.window;
	const at = view.selected >= 0 ? layout.x0[view.selected] + layout.width[view.selected] / 2 : (x0 + x1) / 2;
	view.pan(at - (at - x0) * factor, at + (x1 - at) * factor);
}

function slide(share) {
	const { x0, x1 } = view.window;
	view.pan(x0 + (x1 - x0) * share, x1 + (x1 - x0) * share);
}

function escape() {
	if (!$("actions").hidden || !$("share").hidden || !$("tooltip").hidden) {
		closeCards();
		$("canvas").focus({ preventScroll: true });
	} else if (state.q !== "") {
		setSearch("", state.regex);
	} else if (state.func >= 0) {
		showFunction(-1);
	} else {
		view.selected = -1;
		view.redraw();
	}
}

/* -1: none is selected, or what is selected is a group of stacks. */
function selectedFunction() {
	const func = view.selected > 0 ? tree.function[view.selected] : -1;
	return func >= 0 && !profile.functions[func].group ? func : -1;
}

const COMMANDS = {
	0: () => zoomTo(0),
	Backspace: zoomOut,
	Escape: escape,
	"/": () => $("search-text").select(),
	n: () => nextMatch(1),
	N: () => nextMatch(-1),
	l: () => setValue(true, null),
	a: () => setValue(false, null),
	b: () => setValue(null, true),
	o: () => setValue(null, false),
	f: () => addFilter("only", selectedFunction()),
	h: () => addFilter("without", selectedFunction()),
	k: () => addFilter("folded", selectedFunction()),
	u: undoFilter,
	y: () => view.selected > 0 && copyStack(view.selected),
	g: () => setGroup(cycle(groupsThere().map((group) => group.id), state.group)),
	s: () => selectedFunction() >= 0 && showFunction(selectedFunction()),
	t: () => {
		state.view = cycle(["graph", "table", "both"], state.view);
		update();
	},
	d: toggleTheme,
	"?": () => $("help").showModal(),
	"+": () => magnify(0.8),
	"=": () => magnify(0.8),
	"-": () => magnify(1.25),
};

function onKey(event) {
	if ($("help").open || $("gone").open || event.altKey || event.metaKey)
		return;
	const key = event.key;
	if (event.ctrlKey) {
		if (key === "f" && state.view === "graph") {
			event.preventDefault();
			$("search-text").select();
		}
		return;
	}
	const target = event.target;
	if (target.closest("[role=menu]")) {
		const step = { ArrowDown: 1, ArrowUp: -1 }[key];
		if (step) {
			const items = [...target.closest("[role=menu]").querySelectorAll("button")];
			items[(items.indexOf(target) + step + items.length) % items.length].focus();
			event.preventDefault();
			return;
		}
	}
	if (target === $("group"))
		return;
	if (target === $("search-text")) {
		if (key === "Escape") {
			setSearch("", state.regex);
			$("canvas").focus({ preventScroll: true });
		}
		return;
	}
	const command = COMMANDS[key] || COMMANDS[key.toLowerCase()] ||
		(TOGGLES.some((t) => t.key === key.toLowerCase() && (!t.diff || profile.baseSelf)) &&
			(() => toggleState(TOGGLES.find((t) => t.key === key.toLowerCase()).id)));
	if (command) {
		event.preventDefault();
		command();
	} else if (target === $("canvas") || target === document.body) {
		onCanvasKey(event);
	}
}

function onCanvasKey(event) {
	const key = event.key;
	if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) {
		slide(key === "ArrowLeft" ? -0.2 : 0.2);
	} else if (key.startsWith("Arrow")) {
		select(neighbour(key));
	} else if (key === "Enter" && view.selected >= 0) {
		zoomTo(view.selected);
	} else if ((key === "." || key === "ContextMenu" || (key === "F10" && event.shiftKey)) && view.selected >= 0) {
		const r = view.rectangle(view.selected);
		const box = $("canvas").getBoundingClientRect();
		openActions(view.selected, box.left + r.x + 10, box.top + r.y + ROW_HEIGHT);
	} else {
		return;
	}
	event.preventDefault();
}
