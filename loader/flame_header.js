// SPDX-License-Identifier: MIT
/* What was recorded, and the four values with their totals. */
"use strict";

function buildHeader() {
	const { info } = profile;
	const name = info.comm || "profile";
	$("title").textContent = name;
	$("title").title = info.command || name;
	const parts = [];
	if (info.command && info.command !== name)
		parts.push(info.command);
	if (info.pid > 0)
		parts.push("pid " + info.pid);
	if (info.host)
		parts.push(info.host);
	$("subtitle").textContent = parts.join(" · ");
	$("subtitle").title = $("subtitle").textContent;

	for (const value of [3, 2, 1, 0]) {
		const type = valueTypes[value];
		if (!type.there)
			continue;
		const button = make("button", { role: "radio", "data-value": value, "aria-label": type.name },
			make("span", { className: "name", textContent: type.name }), make("span", { className: "number" }));
		button.addEventListener("click", () => {
			state.value = value;
			update();
		});
		$("values").append(button);
	}
	buildFacts();
}

function buildFacts() {
	const { info, baseInfo } = profile;
	const fact = (label, text, warn, title) => {
		const item = make("span", { className: warn ? "warn" : "", title: title || "" },
			label + " ", make("b", { textContent: text }));
		$("facts").append(item);
	};
	if (info.start_ms > 0)
		fact("from", new Date(info.start_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC");
	if (info.duration_ms > 0)
		fact("for", formatDuration(info.duration_ms) + (info.end ? `, ${info.end}` : ""));
	if (info.period > 0)
		fact("one sample per", (info.period_lowest > 0 ? formatBytes(info.period_lowest) + " to " : "") + formatBytes(info.period),
			false, "The mean number of bytes between samples");
	if (info.samples > 0) {
		fact("samples", info.samples.toLocaleString("en-US"));
		fact("lost", info.lost === 0 ? "none" : `${info.lost.toLocaleString("en-US")} (${formatShare(info.lost, info.samples)})`,
			info.lost > 0, "Samples whose stack could not be kept. They are counted, in a grey frame that says why.");
		const whole = info.whole / info.samples;
		fact("whole stacks", formatShare(info.whole, info.samples), whole < 0.9,
			"Samples whose stack reached the start of its thread");
	}
	if (info.filter)
		fact("left out", `${formatBytes(info.left_out[3])} live, ${formatBytes(info.left_out[1])} allocated, by ${info.filter}`,
			true, "In no number of this page");
	if (baseInfo)
		fact("compared with", [
			baseInfo.comm === info.comm ? "" : baseInfo.comm,
			baseInfo.start_ms > 0 ? new Date(baseInfo.start_ms).toISOString().slice(0, 16).replace("T", " ") : "",
			baseInfo.duration_ms > 0 ? formatDuration(baseInfo.duration_ms) : "",
		].filter(Boolean).join(", "));
	$("facts").append(make("span", { className: "maker", textContent: "allocprof " + info.version }));
}

function totalOf(value) {
	return (state.swap ? tree.baseTotal : tree.total)[value];
}

function renderHeader() {
	for (const button of $("values").children) {
		const value = Number(button.dataset.value);
		const number = totalOf(value);
		const chosen = value === state.value;
		button.setAttribute("aria-checked", chosen);
		button.tabIndex = chosen ? 0 : -1;
		button.dataset.exact = number;
		button.title = `${number.toLocaleString("en-US")} ${valueTypes[value].bytes ? "bytes" : ""}`.trim();
		const range = samplingError(tree, value);
		const share = range && number > 0 ? errorShare(range, 0, number) : "";
		button.querySelector(".number").replaceChildren(formatValue(number, value),
			make("span", { className: "error", textContent: share ? ` ±${share}` : "" }));
		if (tree.baseTotal)
			button.querySelector(".error").textContent =
				" " + formatSigned(tree.total[value] - tree.baseTotal[value], value);
	}
}
