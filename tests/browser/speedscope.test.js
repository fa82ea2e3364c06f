// SPDX-License-Identifier: MIT
/* Our files in the speedscope of npm: what its table of functions says, against the folded stacks. */
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { before, after, test } = require("node:test");
const { launch, shutdown, readFolded, sum, shot, NAMES } = require("./harness.js");

const { PAGES, SPEEDSCOPE } = process.env;
const UNITS = { "": 1, B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

let browser;

before(async () => {
	browser = await launch();
});
after(shutdown);

/* Opens a profile with speedscope, which may ask for nothing but its own files. */
async function withProfile(name, body) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 3000 } });
	const complaints = [];
	page.on("pageerror", (error) => complaints.push("error: " + error.stack));
	page.on("dialog", (dialog) => {
		complaints.push("dialog: " + dialog.message());
		dialog.dismiss();
	});
	page.on("request", (request) => {
		if (!/^(file|data|blob):/.test(request.url()))
			complaints.push("request: " + request.url());
	});
	try {
		await page.goto("file://" + path.join(SPEEDSCOPE, "index.html"));
		await page.setInputFiles("input[type=file]", path.join(PAGES, name + ".speedscope.json"));
		await page.getByText("Sandwich").click();
		await page.getByText("Symbol Name").waitFor();
		await body(page);
		assert.deepEqual(complaints, []);
	} finally {
		await page.close();
	}
}

/* Shows the profile of this value: the file begins with live bytes, the last. */
async function show(page, value) {
	await page.keyboard.press("p");
	await page.getByText(`${NAMES[value].toLowerCase()} (${value + 1}/4)`).waitFor();
}

/* "1,150" and "72.17 KB (97%)", as numbers. */
function readNumber(text) {
	const [, digits, unit] = text.match(/^([\d.,]+) ?([KMG]?B|)/);
	return Number(digits.replaceAll(",", "")) * UNITS[unit];
}

/* It rounds to three digits. */
function about(shown, exact, what) {
	assert.ok(Math.abs(shown - exact) <= exact / 100, `${what}: ${shown}, not ${exact}`);
}

/* The cells of all tables: the list of profiles comes before that of functions. */
async function cells(page) {
	const rows = await page.locator("table tr").evaluateAll((all) =>
		all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())));
	return rows.filter((row) => row.length === 3);
}

/* Of the profiles: name -> total. */
async function totals(page) {
	return (await cells(page)).filter((row) => /^\d+$/.test(row[0]))
		.map(([, name, total]) => [name, readNumber(total)]);
}

/* Of the functions: name -> [total, self]. */
async function table(page) {
	return new Map((await cells(page)).filter((row) => /%\)$/.test(row[0]))
		.map(([total, self, symbol]) => [symbol, [readNumber(total), readNumber(self)]]));
}

/* The same from the folded stacks; a function counts once in a stack. */
function expected(name, value) {
	const functions = new Map();

	for (const { frames, number } of readFolded(name, value, true)) {
		for (const frame of new Set(frames)) {
			const row = functions.get(frame) || [0, 0];
			row[0] += number;
			row[1] += frame === frames[frames.length - 1] ? number : 0;
			functions.set(frame, row);
		}
	}
	return functions;
}

test("speedscope shows our functions and their totals", async () => {
	for (const name of ["small", "server"]) {
		await withProfile(name, async (page) => {
			const profiles = await totals(page);
			assert.deepEqual(profiles.map((row) => row[0]), NAMES.map((text) => text.toLowerCase()));
			for (let value = 3; value >= 0; value--) {
				if (value < 3)
					await show(page, value);
				const rows = await table(page), wanted = expected(name, value);
				assert.deepEqual([...rows.keys()].sort(), [...wanted.keys()].sort(), `${name}, ${NAMES[value]}`);
				for (const [symbol, numbers] of wanted)
					numbers.forEach((exact, i) => about(rows.get(symbol)[i], exact, `${name}, ${symbol}`));
				about(profiles[value][1], sum(readFolded(name, value)), `${name}, ${NAMES[value]}`);
			}
			await shot(page, `speedscope-${name}`);
		});
	}
});

test("speedscope shows names that attack as they are", async () => {
	await withProfile("hostile", async (page) => {
		const rows = await table(page);
		for (const name of ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "__proto__", "🔥 火焔"])
			assert.ok(rows.has(name), name);
	});
});
