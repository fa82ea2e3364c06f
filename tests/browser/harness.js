// SPDX-License-Identifier: MIT
/*
 * A browser, and what a person does with a page: looks, points, clicks, types. Every page that is
 * opened here fails its test if it asks for anything but its own file, writes to the console, or
 * opens a dialog.
 */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const { PAGES, SHOTS, CHROMIUM } = process.env;
const ARGUMENTS = [
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const VALUES = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"];
const NAMES = ["Allocated objects", "Allocated bytes", "Live objects", "Live bytes"];

let browser;

async function launch() {
	browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS, timeout: 120000 });
	return browser;
}

async function shutdown() {
	await browser.close();
}

/* Runs body(page, view) on a page: options: width, height, dark, touch, script, hash, tolerate (complaints that are meant to come). */
async function withPage(name, options, body) {
	const { width = 1280, height = 800, dark = false, touch = false, script = true, hash = "", tolerate = /^$/ } = options;
	const context = await browser.newContext({
		viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch,
		isMobile: touch, javaScriptEnabled: script, reducedMotion: "reduce", acceptDownloads: true,
	});
	const page = await context.newPage();
	const url = "file://" + path.join(PAGES, name + ".html");
	const complaints = [];
	page.on("console", (message) => complaints.push("console: " + message.text()));
	page.on("pageerror", (error) => complaints.push("error: " + error.stack));
	page.on("dialog", (dialog) => {
		complaints.push("dialog: " + dialog.message());
		dialog.dismiss();
	});
	context.on("request", (request) => {
		const to = request.url();
		if (to.split("#")[0] !== url && !to.startsWith("data:image/svg") && !to.startsWith("blob:"))
			complaints.push("request: " + to);
	});
	try {
		await page.goto(url + (hash ? "#" + hash : ""));
		await body(page, new Viewer(page));
		assert.deepEqual(complaints.filter((c) => !tolerate.test(c)), []);
	} finally {
		await context.close();
	}
}

class Viewer {
	constructor(page) {
		this.page = page;
	}

	/* The exact total on a value's card. */
	async total(value) {
		const card = this.page.getByRole("radio", { name: NAMES[value], exact: true });
		return Number(await card.getAttribute("data-exact"));
	}

	async show(value) {
		await this.page.getByRole("radio", { name: NAMES[value], exact: true }).click();
	}

	async toggle(label) {
		await this.page.locator("#toggles").getByRole("button", { name: label, exact: true }).click();
	}

	/* The point of row `row`, 0 the root, at a share of the picture's width. */
	async point(row, share) {
		const box = await this.page.locator("#scroller").boundingBox();
		return [box.x + share * box.width, box.y + 1 + 21 * row + 10];
	}

	/* The name of the frame that is under the mouse there; "" for none. */
	async frameAt(row, share) {
		const [x, y] = await this.point(row, share);
		await this.page.mouse.move(x, y - 1);
		await this.page.mouse.move(x, y);
		const tooltip = this.page.locator("#tooltip");
		if (!(await tooltip.isVisible()))
			return "";
		return tooltip.locator(".frame-name").textContent();
	}

	async tooltip() {
		return (await this.page.locator("#tooltip").innerText()).replace(/\s+/g, " ");
	}

	async click(row, share, options) {
		const [x, y] = await this.point(row, share);
		await this.page.mouse.click(x, y, options);
	}

	async choose(row, share, action) {
		await this.click(row, share, { button: "right" });
		await this.page.locator("#actions").getByRole("menuitem", { name: action }).click();
	}

	async search(text) {
		await this.page.locator("#search-text").fill(text);
		return this.page.locator("#search-result").textContent();
	}

	async path() {
		return this.page.locator("#path button").allTextContents();
	}

	/* Checks that a row's frames stand where their shares say: [[name, share], ...], left to right,
	   and that there is nothing more up to `end`. */
	async expectRow(row, frames, end = 1) {
		let x = 0;
		const box = await this.page.locator("#scroller").boundingBox();
		const edge = 2.5 / box.width;
		for (const [name, share] of frames) {
			if (share * box.width >= 8) {
				assert.equal(await this.frameAt(row, x + edge), name, `row ${row}, left edge of ${name}`);
				assert.equal(await this.frameAt(row, x + share - edge), name, `row ${row}, right edge of ${name}`);
			}
			x += share;
		}
		if (x < end - 4 * edge)
			assert.equal(await this.frameAt(row, x + 2 * edge), "", `row ${row}, past its end`);
	}

	/* The rows of the functions' table, as texts. */
	async functions() {
		return this.page.locator("#functions tbody tr").evaluateAll((rows) =>
			rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
	}
}

/*
 * The stacks of NAME.VALUE.folded: [{ frames, number }, ...], without the thread that begins some,
 * and without malloc and its like.
 */
function readFolded(name, value, keepAllocator) {
	const text = fs.readFileSync(path.join(PAGES, `${name}.${VALUES[value]}.folded`), "utf8");
	const stacks = new Map();
	for (const line of text.split("\n").filter(Boolean)) {
		const space = line.lastIndexOf(" ");
		let frames = line.slice(0, space).split(";").filter((frame, i) => i > 0 || !/^\[.* tid=\d+\]$/.test(frame));
		if (!keepAllocator && /^(malloc|calloc|realloc)$/.test(frames[frames.length - 1]))
			frames = frames.slice(0, -1);
		const key = frames.join(";");
		if (!stacks.has(key))
			stacks.set(key, { frames, number: 0 });
		stacks.get(key).number += Number(line.slice(space + 1));
	}
	return [...stacks.values()];
}

function sum(stacks) {
	return stacks.reduce((total, stack) => total + stack.number, 0);
}

/* What stands in a row under a path of names: [[name, share of the whole], ...], largest first. */
function children(stacks, above) {
	const total = sum(stacks);
	const names = new Map();
	for (const { frames, number } of stacks) {
		if (above.every((name, i) => frames[i] === name) && frames.length > above.length)
			names.set(frames[above.length], (names.get(frames[above.length]) || 0) + number);
	}
	return [...names].sort((a, b) => b[1] - a[1]).map(([name, number]) => [name, number / total]);
}

async function shot(page, name) {
	await page.screenshot({ path: path.join(SHOTS, name + ".png") });
}

module.exports = { launch, shutdown, withPage, readFolded, sum, children, shot, VALUES, NAMES };
