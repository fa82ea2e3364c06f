// SPDX-License-Identifier: MIT
/* What a comparison adds: how much a frame changed, and the stacks of which nothing is left. */
"use strict";

const GONE_SHOWN = 100; // stacks put in the document

function changeText(node) {
	const then = tree.baseTotal[4 * node + state.value];
	const now = tree.total[4 * node + state.value];
	if (then === 0)
		return "new";
	if (now === 0)
		return "gone";
	if (now === then)
		return "=";
	const change = (100 * (now - then)) / then;
	const size = Math.abs(change) < 9.95 ? Math.abs(change).toFixed(1) : Math.round(Math.abs(change)).toLocaleString("en-US");
	return (change > 0 ? "+" : "\u2212") + size + "%";
}

function changeScale() {
	const canvas = make("canvas", { width: 82, height: 10 });
	const context = canvas.getContext("2d");
	for (let x = 0; x < 82; x++) {
		context.fillStyle = palette.changeColour((x - 41) / 41);
		context.fillRect(x, 0, 1, 10);
	}
	return canvas;
}

/*
 * The ends of the stacks that the older profile had and of which nothing is left, the largest
 * first: { node, value }. They have no width of their own in the picture.
 */
function goneStacks() {
	const gone = [];
	for (let node = 0; node < tree.count; node++) {
		const value = tree.baseSelf[4 * node + state.value];
		if (value > 0 && tree.total[4 * node + state.value] === 0)
			gone.push({ node, value });
	}
	return gone.sort((a, b) => b.value - a.value || a.node - b.node);
}

function goneButton() {
	const gone = goneStacks();
	if (gone.length === 0)
		return [];
	const sum = gone.reduce((total, stack) => total + stack.value, 0);
	const button = make("button", {
		textContent: `gone: ${formatValue(sum, state.value)}`, "aria-haspopup": "dialog",
		title: "In stacks that the newer profile does not have. Click to list them.",
	});
	button.addEventListener("click", () => openGone(gone, sum));
	return [button];
}

function openGone(gone, sum) {
	const body = make("tbody");
	for (const { node, value } of gone.slice(0, GONE_SHOWN)) {
		const names = tree.path(node).map((n) => profile.functions[tree.function[n]].label);
		const show = make("button", { className: "stack", title: "Show it in the older picture" },
			make("b", { textContent: names[names.length - 1] || "All stacks" }),
			make("span", { textContent: names.slice(0, -1).reverse().join(" ‹ ") }));
		show.addEventListener("click", () => {
			$("gone").close();
			state.swap = true;
			state.zoom = tree.path(node).map(nodeKey);
			if (state.view === "table")
				state.view = "graph";
			update(true);
		});
		const cell = make("td", { textContent: formatValue(value, state.value) });
		cell.dataset.exact = value;
		body.append(make("tr", null, cell, make("td", null, show)));
	}
	const stacks = gone.length === 1 ? "1 stack" : `${gone.length.toLocaleString("en-US")} stacks`;
	$("gone-sum").textContent = `${formatValue(sum, state.value)} (${valueTypes[state.value].name.toLowerCase()}) in ${stacks}` +
		(gone.length > GONE_SHOWN ? `, the largest ${GONE_SHOWN} of which are below` : "") +
		". Choose one to see it in the older profile.";
	$("gone-stacks").replaceChildren(body);
	$("gone").showModal();
}
