// SPDX-License-Identifier: MIT
/* The table of functions, and beside it who calls one of them and what it calls. */
"use strict";

const TABLE_PAGE = 200; // rows put in the document at once
const NAME_MOST = 60; // letters of a name that is shown whole, with arguments and all

/* An element with properties, attributes (names with a dash, and role) and children. */
function make(tag, properties, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties || {})) {
		if (name.includes("-") || name === "role")
			element.setAttribute(name, value);
		else
			element[name] = value;
	}
	element.append(...children);
	return element;
}

class FunctionTable {
	/*
	 * on: { choose(func), show(func), filter(kind, func) }. model(): { tree, value, palette,
	 * matched, swap }.
	 */
	constructor(list, sandwich, model, on) {
		this.list = list;
		this.sandwich = sandwich;
		this.model = model;
		this.on = on;
		this.sort = { column: "self", descending: true };
		this.shown = TABLE_PAGE;
	}

	columns(diff) {
		const { value } = this.model();
		const columns = [
			{ id: "name", title: "Function", hint: "Name of the function" },
			{ id: "self", title: "Self", hint: "Allocated by the function itself", share: true },
			{ id: "total", title: "Total", hint: "With all that it calls, recursion counted once", share: true },
		];
		if (diff)
			columns.push({ id: "change", title: "Change", hint: "Total, newer less older" });
		columns.push({ id: "library", title: "Library", hint: "The file that the code is from" });
		const unit = valueTypes[value].name.toLowerCase();
		return columns.map((c) => ({ ...c, hint: c.share ? `${c.hint} (${unit})` : c.hint }));
	}

	/* All rows that pass the search, sorted. */
	rows() {
		const { tree, value, matched, swap } = this.model();
		const sums = functionSums(tree, value);
		const total = swap ? sums.baseTotal : sums.total;
		const self = swap ? sums.baseSelf : sums.self;
		const rows = [];
		for (const func of tree.profile.functions) {
			const id = func.id;
			if (!sums.present[id] || (matched && !matched[id]))
				continue;
			const change = sums.baseTotal ? sums.total[id] - sums.baseTotal[id] : 0;
			if (total[id] !== 0 || self[id] !== 0 || change !== 0)
				rows.push({
					func, self: self[id], total: total[id], change,
					name: func.name, library: fileName(func.library),
				});
		}
		const { column, descending } = this.sort;
		const sign = descending ? -1 : 1;
		const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
		return rows.sort((a, b) => sign * compare(a[column], b[column]) || b.total - a.total ||
			compare(a.name, b.name));
	}

	render() {
		const { tree } = this.model();
		const diff = tree.baseTotal !== null;
		const rows = this.rows();
		const head = make("tr");
		const groups = make("colgroup");
		for (const column of this.columns(diff)) {
			const button = make("button", { textContent: column.title, title: column.hint });
			button.addEventListener("click", () => this.sortBy(column.id));
			const cell = make("th", { scope: "col", className: column.id }, button);
			if (column.id === this.sort.column)
				cell.setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
			head.append(cell);
			const kind = { name: "", library: "column-library" }[column.id] ?? "column-number";
			groups.append(make("col", { className: kind }));
			if (column.share) {
				head.append(make("th", { scope: "col", className: "share-cell", textContent: "%" }));
				groups.append(make("col", { className: "column-share" }));
			}
		}
		const body = make("tbody");
		for (const row of rows.slice(0, this.shown))
			body.append(this.row(row, diff));
		const table = make("table", { "aria-label": "Functions", "aria-rowcount": rows.length + 1 },
			groups, make("thead", null, head), body);
		this.list.replaceChildren(table);
		if (rows.length === 0)
			this.list.append(make("p", { className: "more", textContent: "No function matches." }));
		if (rows.length > this.shown) {
			const more = make("button", {
				className: "more",
				textContent: `Show ${Math.min(1000, rows.length - this.shown)} more of ${rows.length} functions`,
			});
			more.addEventListener("click", () => {
				this.shown += 1000;
				this.render();
			});
			this.list.append(more);
		}
	}

	row(row, diff) {
		const { tree, value, swap } = this.model();
		const whole = (swap ? tree.baseTotal : tree.total)[value];
		const line = make("tr", { className: row.func.id === this.chosen ? "chosen" : "" });
		line.append(make("td", null, this.nameButton(row.func)));
		for (const key of ["self", "total"]) {
			const cell = make("td", {
				className: "barred", textContent: row[key] === 0 ? "\u2013" : formatValue(row[key], value),
			});
			const share = whole ? Math.max(0, Math.min(100, (100 * row[key]) / whole)) : 0;
			cell.style.setProperty("--share", share + "%");
			line.append(cell, make("td", {
				className: "share share-cell", textContent: row[key] === 0 ? "" : formatShare(row[key], whole),
			}));
		}
		if (diff)
			line.append(make("td", {
				className: row.change > 0 ? "grew" : row.change < 0 ? "shrank" : "",
				textContent: formatSigned(row.change, value),
			}));
		line.append(make("td", {
			className: "share library", textContent: row.library, title: row.func.library,
		}));
		return line;
	}

	nameButton(func) {
		const swatch = make("span", { className: "swatch" });
		swatch.style.background = this.model().palette.swatch(func);
		const button = make("button", { className: "name", title: func.name }, swatch,
			make("span", { textContent: func.name.length > NAME_MOST ? func.label : func.name }));
		button.addEventListener("click", () => this.on.choose(func.id));
		return button;
	}

	sortBy(column) {
		const text = column === "name" || column === "library";
		const same = this.sort.column === column;
		this.sort = { column, descending: same ? !this.sort.descending : !text };
		this.render();
		this.list.querySelector(`th.${column} button`).focus();
	}

	/* Callers and callees of a function; -1 puts them away. */
	choose(func) {
		this.chosen = func;
		this.sandwich.hidden = func < 0;
		if (func < 0)
			return;
		const { tree, value, palette, swap } = this.model();
		const { functions } = tree.profile;
		const source = swap ? { ...tree, total: tree.baseTotal, self: tree.baseSelf } : tree;
		const parts = callersAndCallees(source, func, value);
		const total = parts.callers.reduce((sum, entry) => sum + entry[1], 0);
		const close = make("button", { className: "close", textContent: "×", "aria-label": "Close callers and callees" });
		close.addEventListener("click", () => this.on.choose(-1));
		const title = make("h2", null, functions[func].name);
		const place = make("p", { className: "frame-place", textContent: placeOf(functions[func], 0) });
		const sums = make("p", { className: "frame-shares" });
		sums.append(make("b", { textContent: formatValue(total, value) }),
			` in all, ${formatShare(total, (swap ? tree.baseTotal : tree.total)[value])}; `,
			make("b", { textContent: formatValue(parts.self, value) }), " by itself");
		const actions = make("div", { className: "row" });
		for (const [label, run] of [
			["Show in picture", () => this.on.show(func)],
			["Focus", () => this.on.filter("only", func)],
			["Hide", () => this.on.filter("without", func)],
		]) {
			const button = make("button", { textContent: label });
			button.addEventListener("click", run);
			actions.append(button);
		}
		const list = (id, entries) => {
			const body = make("tbody");
			for (const [key, number] of entries) {
				const cell = make("td", { className: "barred", textContent: formatValue(number, value) });
				cell.style.setProperty("--share", (total ? (100 * number) / total : 0) + "%");
				cell.dataset.exact = number;
				const name = key >= 0 ? this.nameButton(functions[key]) :
					make("span", { className: "share", textContent: key === -1 ? "start of the stack" : "by itself" });
				body.append(make("tr", null, make("td", null, name), cell,
					make("td", { className: "share", textContent: formatShare(number, total) })));
			}
			return make("table", { id, "aria-label": id }, make("colgroup", null, make("col"),
				make("col", { className: "column-number" }), make("col", { className: "column-share-always" })), body);
		};
		const callees = parts.callees.slice();
		if (parts.self !== 0)
			callees.push([-2, parts.self]);
		callees.sort((a, b) => b[1] - a[1]);
		this.sandwich.replaceChildren(close, title, place, sums, actions,
			make("h3", { textContent: "Called by" }), list("callers", parts.callers),
			make("h3", { textContent: "Calls" }), list("callees", callees));
		this.sandwich.dataset.total = total;
		this.sandwich.scrollTop = 0;
	}
}

/* "zmalloc.c:105 · redis-server" */
function placeOf(func, line) {
	const parts = [];
	if (func.file !== "")
		parts.push(func.file + (line > 0 ? ":" + line : func.line > 0 ? ":" + func.line : ""));
	if (func.library !== "")
		parts.push(func.library);
	return parts.join(" · ");
}
