// SPDX-License-Identifier: MIT
/* The picture by what a person sees and does. The pages come from pages.c. */
"use strict";

const assert = require("node:assert/strict");
const { before, after, test } = require("node:test");
const { launch, shutdown, withPage, readFolded, sum, children, shot, NAMES } = require("./harness.js");

const ALL_PAGES = ["small", "server", "compared", "hostile", "nodes", "empty"];
const ALLOC_SPACE = 1;
const INUSE_SPACE = 3;

before(launch);
after(shutdown);

test("every total is exactly the profile's", async () => {
	for (const name of ALL_PAGES) {
		await withPage(name, {}, async (page, view) => {
			for (const value of name === "nodes" ? [INUSE_SPACE] : NAMES.keys())
				assert.equal(await view.total(value), sum(readFolded(name, value)), `${name}, ${NAMES[value]}`);
		});
	}
});

test("each switch changes widths as the data says", async () => {
	await withPage("small", {}, async (page, view) => {
		for (let value = 0; value < 4; value++) {
			await view.show(value);
			const stacks = readFolded("small", value);
			await view.expectRow(1, children(stacks, []));
			const [main] = children(stacks, []);
			await view.expectRow(2, children(stacks, ["main"]), main[1]);
			assert.equal(await page.locator("#values [aria-checked=true]").getAttribute("aria-label"), NAMES[value]);
		}
	});
	await withPage("server", {}, async (page, view) => {
		for (const [key, value] of [["a", 1], ["o", 0], ["l", 2], ["b", 3]]) {
			await page.keyboard.press(key);
			const stacks = readFolded("server", value);
			let path = [];
			let end = 1;
			for (let row = 1; row <= 12; row++) {
				const frames = children(stacks, path);
				if (row % 6 === 0)
					await view.expectRow(row, frames, end);
				[[path[row - 1], end]] = frames;
			}
		}
	});
});

test("the tooltip says place, values, means and shares", async () => {
	await withPage("small", {}, async (page, view) => {
		assert.equal(await view.frameAt(2, 0.01), "cache_fill");
		const text = await view.tooltip();
		assert.match(text, /deep\.c · \/opt\/small\/libdeep\.so\.1 · several lines/);
		assert.match(text, /Live 3\.61 KiB 37 100 B/);
		assert.match(text, /Allocated 3\.61 KiB 37 100 B/);
		assert.match(text, /61\.7% of the total, 63\.3% of its caller; 700 B by itself/);
		assert.match(text, /±>100%, from about 9 samples/); // 700 B are of a sample that is not there
		assert.equal(await view.frameAt(3, 0.01), "entry_new");
		const entry = await view.tooltip();
		assert.match(entry, /deep\.c:9 ·/);
		assert.match(entry, /±75%, from about 9 samples/); // 4 samples of 10 objects, 5 of 20: see estimate.h
		assert.match(entry, /Sizes of the blocks, share of bytes 100% ≥64 B/);
		assert.match(entry, /Age of what is live, share of bytes 33% now 67% 30\.2 s/);
		assert.ok(!entry.includes("Lifetime"), "nothing of it was freed");
		await view.show(ALLOC_SPACE);
		assert.equal(await view.frameAt(2, 0.1), "churn");
		const churn = await view.tooltip();
		assert.match(churn, /share of bytes 38% ≥32 B 63% ≥128 B/);
		assert.match(churn, /Lifetime of what was freed, share of bytes 38% <1 ms ≥1 ms ≥10 ms ≥0\.1 s 63% ≥1 s ≥10 s ≥100 s ≥1000 s/);
		await view.show(0);
		await view.frameAt(2, 0.1);
		await shot(page, "tooltip");
		assert.match(await view.tooltip(), /Lifetime of what was freed, share of objects 75% <1 ms ≥1 ms ≥10 ms ≥0\.1 s 25% ≥1 s/);
	});
	await withPage("server", {}, async (page, view) => {
		await view.frameAt(3, 0.1);
		assert.match(await view.tooltip(), /±2\d%, from about \d+ samples/);
	});
});

test("search finds, and counts nested matches once", async () => {
	await withPage("small", {}, async (page, view) => {
		assert.equal(await view.search("PARSE"), "35.0%"); // 2100 of 6000: parse in parse is one
		assert.equal(await view.search("token"), "35.7%");
		assert.equal(await view.search("to.en"), "0%");
		await page.getByRole("button", { name: "Regular expression" }).click();
		assert.equal(await page.locator("#search-result").textContent(), "35.7%");
		assert.equal(await view.search("^(parse|token)$"), "35.7%");
		assert.equal(await view.search("(unclosed"), "not a regular expression");
		await page.getByRole("button", { name: "Regular expression" }).click();
		assert.equal(await view.search("lib:libdeep"), "61.7%");
		assert.equal(await view.search("file:small.c"), "97.3%");
		assert.equal(await view.search("[stack"), "2.6%");
		assert.equal(await view.search("is:parse"), "35.0%");
		await view.show(ALLOC_SPACE); // 6000 of 73900
		assert.equal(await page.locator("#search-result").textContent(), "8.1%");
		await page.locator("#search-text").press("Escape");
		assert.equal(await page.locator("#search-text").inputValue(), "");
		assert.equal(await page.locator("#search-result").textContent(), "");
	});
});

test("n and N step through the matches", async () => {
	await withPage("small", {}, async (page, view) => {
		await page.keyboard.press("/");
		await page.keyboard.type("token");
		await page.keyboard.press("Enter");
		assert.equal(await page.locator("#search-result").textContent(), "35.7% · 1/3");
		await page.locator("#canvas").focus();
		await page.keyboard.press("n");
		assert.equal(await page.locator("#search-result").textContent(), "35.7% · 2/3");
		await page.keyboard.press("Shift+N");
		await page.keyboard.press("Shift+N");
		assert.equal(await page.locator("#search-result").textContent(), "35.7% · 3/3");
		assert.match(await page.locator("#canvas").getAttribute("aria-label"), /^token, 41 B/);
	});
});

test("zoom by mouse, and the ways back", async () => {
	await withPage("small", {}, async (page, view) => {
		await view.click(2, 0.75); // parse
		assert.deepEqual(await view.path(), ["All stacks", "main", "parse"]);
		assert.equal(await view.frameAt(2, 0.01), "parse");
		assert.equal(await view.frameAt(2, 0.99), "parse");
		const below = children(readFolded("small", INUSE_SPACE).filter((s) => s.frames[1] === "parse"), ["main", "parse"]);
		await view.expectRow(3, below);
		const deep = await page.evaluate("location.hash");
		await view.click(3, 0.2); // parse in parse
		assert.deepEqual(await view.path(), ["All stacks", "main", "parse", "parse"]);
		await page.goBack();
		assert.deepEqual(await view.path(), ["All stacks", "main", "parse"]);
		await page.keyboard.press("Backspace");
		assert.deepEqual(await view.path(), ["All stacks", "main"]);
		await page.goForward().catch(() => {});
		await page.keyboard.press("0");
		assert.deepEqual(await view.path(), ["All stacks"]);
		assert.equal(await view.frameAt(2, 0.01), "cache_fill");
		await view.click(2, 0.75);
		await page.locator("#path button").first().click();
		assert.deepEqual(await view.path(), ["All stacks"]);
		await view.click(2, 0.75);
		await view.click(0, 0.5);
		assert.deepEqual(await view.path(), ["All stacks"]);
		assert.match(deep, /^#zoom=\d+\.\d+$/);
	});
});

test("a link shows the same view", async () => {
	let hash;
	await withPage("small", {}, async (page, view) => {
		await view.show(ALLOC_SPACE);
		await view.search("token");
		await page.locator("#canvas").focus();
		await view.toggle("Flip");
		await view.toggle("Flip");
		await view.toggle("Allocator");
		await view.choose(2, 0.95, "Focus");
		await view.click(2, 0.5);
		hash = (await page.evaluate("location.hash")).slice(1);
	});
	await withPage("small", { hash }, async (page, view) => {
		assert.equal(await page.locator("#values [aria-checked=true]").getAttribute("aria-label"), "Allocated bytes");
		assert.equal(await page.locator("#search-text").inputValue(), "token");
		assert.equal(await page.locator("#toggles [data-toggle=allocator]").getAttribute("aria-pressed"), "true");
		assert.equal((await page.locator("#filters button").allTextContents()).length, 1);
		assert.equal((await view.path()).length, 3);
	});
	await withPage("small", { hash: "show=nothing&zoom=9999.x.-1&only=77777&function=1e9&q=%E0%A4%A&view=%3Cscript%3E" },
		async (page, view) => {
			assert.equal(await view.total(INUSE_SPACE), 6000);
			assert.deepEqual(await view.path(), ["All stacks"]);
		});
});

test("everything by keyboard", async () => {
	await withPage("small", {}, async (page, view) => {
		const label = () => page.locator("#canvas").getAttribute("aria-label");
		for (let i = 0; i < 60 && !(await page.evaluate(() => document.activeElement.id === "canvas")); i++)
			await page.keyboard.press("Tab");
		assert.equal(await page.evaluate(() => document.activeElement.id), "canvas", "Tab reaches the picture");
		await page.keyboard.press("ArrowDown");
		assert.match(await label(), /^All stacks/);
		await page.keyboard.press("ArrowDown");
		assert.match(await label(), /^main, 5\.70 KiB, 97\.3%/);
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowRight");
		assert.match(await label(), /^parse, 2\.05 KiB, 35\.0%/);
		assert.equal(await page.locator("#spoken").textContent(), await label());
		await page.keyboard.press("Enter");
		assert.deepEqual(await view.path(), ["All stacks", "main", "parse"]);
		await page.keyboard.press("Backspace");
		await page.keyboard.press("Backspace");
		assert.deepEqual(await view.path(), ["All stacks"]);
		await page.keyboard.press(".");
		assert.ok(await page.locator("#actions").isVisible());
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Escape");
		assert.ok(!(await page.locator("#actions").isVisible()));
		await page.keyboard.press("h");
		assert.equal(await view.total(INUSE_SPACE), 3900);
		await page.keyboard.press("u");
		assert.equal(await view.total(INUSE_SPACE), 6000);
		await page.keyboard.press("?");
		assert.ok(await page.getByRole("heading", { name: "How to read this" }).isVisible());
		await page.keyboard.press("Escape");
		await page.keyboard.press("t");
		assert.ok(await page.locator("#functions").isVisible());
	});
});

test("hide, focus and fold, and the totals follow", async () => {
	await withPage("small", {}, async (page, view) => {
		await view.choose(2, 0.1, "Hide"); // cache_fill
		for (let value = 0; value < 4; value++) {
			const left = readFolded("small", value).filter((s) => !s.frames.includes("cache_fill"));
			assert.equal(await view.total(value), sum(left), NAMES[value]);
		}
		await view.expectRow(2, children(readFolded("small", INUSE_SPACE).filter((s) => !s.frames.includes("cache_fill")), ["main"]), 0);
		await page.locator("#filters button").click();
		assert.equal(await view.total(INUSE_SPACE), 6000);
		await view.choose(2, 0.75, "Focus"); // parse
		assert.equal(await view.total(INUSE_SPACE), 2100);
		assert.equal(await view.total(ALLOC_SPACE), 6000);
		assert.deepEqual(await page.locator("#filters button").allTextContents(), ["only parse ×"]);
		await page.keyboard.press("u");
		await view.choose(2, 0.75, "Fold:");
		assert.equal(await view.total(INUSE_SPACE), 6000);
		const folded = readFolded("small", INUSE_SPACE)
			.map((s) => ({ ...s, frames: s.frames.filter((f) => f !== "parse") }));
		await view.expectRow(2, children(folded, ["main"]), 0);
		await page.keyboard.press("u");
		await view.choose(1, 0.3, "Hide"); // main
		await view.choose(1, 0.3, "Hide"); // the rest
		assert.equal(await view.total(INUSE_SPACE), 0);
		assert.equal(await page.locator("#empty").textContent(), "No stack passes the filters.");
	});
});

test("recursion, lines, allocator frames, direction", async () => {
	await withPage("small", {}, async (page, view) => {
		const main = children(readFolded("small", INUSE_SPACE), [])[0][1];
		const parse = 0.6167 + 0.1; // inside parse
		assert.equal(await view.frameAt(3, 0.6167 + 0.02), "parse");
		await view.toggle("Collapse recursion");
		assert.equal(await view.frameAt(3, 0.6167 + 0.02), "token");
		assert.equal(await view.total(INUSE_SPACE), 6000);
		await view.toggle("Collapse recursion");

		assert.equal(await view.frameAt(4, parse), "token");
		assert.equal(await view.frameAt(5, parse), "");
		await view.toggle("Allocator");
		assert.equal(await view.frameAt(5, parse), "malloc");
		const kept = readFolded("small", INUSE_SPACE, true);
		await view.expectRow(3, children(kept, ["main", "cache_fill"]), children(kept, ["main"])[0][1]);
		await view.toggle("Allocator");

		// By line, main is four: 3700, 2100, 41 of 6000, the live ones.
		await view.toggle("Lines");
		assert.equal(await view.frameAt(1, 0.3), "main");
		assert.match(await view.tooltip(), /small\.c:11 · .*61\.7% of the total/);
		assert.equal(await view.frameAt(1, 0.8), "main");
		assert.match(await view.tooltip(), /small\.c:10 · .*35\.0% of the total/);
		await view.toggle("Lines");

		// From the ends: the first row is who asked for memory, by itself.
		await view.toggle("Bottom-up");
		const ends = readFolded("small", INUSE_SPACE).map((s) => ({ ...s, frames: [...s.frames].reverse() }));
		await view.expectRow(1, children(ends, []));
		const [largest] = children(ends, []);
		await view.expectRow(2, children(ends, [largest[0]]), largest[1]);
		assert.equal(await view.total(INUSE_SPACE), 6000);
		await view.toggle("Bottom-up");

		const box = await page.locator("#scroller").boundingBox();
		await view.toggle("Flip");
		const rows = Math.floor((box.height - 2) / 21);
		await page.mouse.move(box.x + box.width * main * 0.5, box.y + box.height - 1 - 21 - 10);
		assert.equal(await page.locator("#tooltip .frame-name").textContent(), "main");
		assert.ok(rows > 10);
		await page.locator("#canvas").focus();
		await page.keyboard.press("i");
		assert.equal(await view.frameAt(1, 0.5), "main");
	});
});

test("grouped by library or thread, and the whole stays", async () => {
	await withPage("small", {}, async (page, view) => {
		await page.getByLabel("Group by").selectOption("library");
		await view.expectRow(1, [["libdeep.so.1", 3700 / 6000], ["small", 2141 / 6000], ["[no library]", 159 / 6000]]);
		await view.expectRow(2, [["main", 3700 / 6000], ["main", 2141 / 6000]], 5841 / 6000);
		assert.equal(await view.total(INUSE_SPACE), 6000);
		await view.show(ALLOC_SPACE);
		await view.expectRow(1, [["small", 70041 / 73900], ["libdeep.so.1", 3700 / 73900], ["[no library]", 159 / 73900]]);
		await view.show(INUSE_SPACE);
		assert.equal(await view.search("small"), "0%", "a group is no function");
		await view.search("");
		await view.toggle("Bottom-up");
		await view.expectRow(1, [["libdeep.so.1", 3700 / 6000], ["small", 2141 / 6000], ["[no library]", 159 / 6000]]);
		await view.expectRow(2, [["entry_new", 3000 / 6000], ["cache_fill", 700 / 6000], ["token", 2141 / 6000]], 5841 / 6000);
		await view.toggle("Bottom-up");
		await view.click(1, 0.5);
		assert.deepEqual(await view.path(), ["All stacks", "libdeep.so.1"]);
		assert.match(await page.evaluate("location.hash"), /group=library/);
		await page.locator("#canvas").focus();
		await page.keyboard.press("t");
		assert.ok(!(await view.functions()).some((row) => row[0] === "libdeep.so.1"));
		await page.keyboard.press("t");
		await page.keyboard.press("t");
		await page.keyboard.press("g");
		assert.equal(await page.getByLabel("Group by").inputValue(), "thread");
		await view.expectRow(1, [["[no thread]", 0.5], ["worker", 0.5]]);
		await view.show(ALLOC_SPACE);
		await view.expectRow(1, [["worker", 43000 / 73900], ["small", 24000 / 73900], ["[no thread]", 6900 / 73900]]);
		await view.expectRow(2, [["main", 43000 / 73900], ["main", 24000 / 73900]], 67000 / 73900);
		assert.equal(await view.total(ALLOC_SPACE), 73900);
		await view.show(INUSE_SPACE);
		await page.keyboard.press("g");
		assert.equal(await page.getByLabel("Group by").inputValue(), "");
		assert.equal(await view.frameAt(1, 0.5), "main");
	});
});

test("magnify and move", async () => {
	await withPage("server", {}, async (page, view) => {
		const right = await view.frameAt(12, 0.9);
		const [x, y] = await view.point(12, 0.6);
		await page.mouse.move(x, y);
		await page.keyboard.down("Control");
		for (let i = 0; i < 5; i++)
			await page.mouse.wheel(0, -200);
		await page.keyboard.up("Control");
		await page.waitForFunction("view.window.x1 - view.window.x0 < layout.total / 10");
		const under = await view.frameAt(12, 0.6);
		assert.equal(under, "evalCommand", "what was under the mouse stays there");
		const before = await page.evaluate("view.window.x0");
		await page.mouse.down();
		await page.mouse.move(x - 300, y, { steps: 4 });
		await page.mouse.up();
		assert.deepEqual(await view.path(), ["All stacks"], "a drag is no click");
		assert.ok((await page.evaluate("view.window.x0")) > before);
		await page.keyboard.press("0");
		assert.equal(await view.frameAt(12, 0.9), right);
		await page.locator("#canvas").focus();
		const wide = await page.evaluate("view.window.x1 - view.window.x0");
		await page.keyboard.press("+");
		assert.ok((await page.evaluate("view.window.x1 - view.window.x0")) < wide);
		const from = await page.evaluate("view.window.x0");
		await page.keyboard.press("Shift+ArrowRight");
		assert.ok((await page.evaluate("view.window.x0")) > from);
	});
});

test("a comparison shows what changed", async () => {
	await withPage("compared", { hash: "view=both", width: 1800 }, async (page, view) => {
		assert.match(await page.locator("#values").innerText(), /44\.6 MiB \+2\.01 MiB/);
		assert.equal(await view.total(INUSE_SPACE), sum(readFolded("compared", INUSE_SPACE)));
		await view.frameAt(12, 0.52);
		assert.match(await view.tooltip(), /lpushCommand .* was 2\.04 MiB, \+2\.86 MiB \(\+140%\)/);
		await page.getByRole("button", { name: "Change" }).click();
		const rows = await view.functions();
		assert.match(rows[0][5], /^\+/);
		await page.getByRole("button", { name: "Change" }).click();
		assert.match((await view.functions())[0][5], /^\u2212/);
		const hue = (name) => page.evaluate((wanted) => {
			const node = [...layout.width.keys()].find((n) => n > 0 && profile.functions[tree.function[n]].name === wanted && layout.width[n] > 0);
			const [r, , b] = view.colour(node).match(/\d+/g).map(Number);
			return r > b + 20 ? "orange" : b > r + 20 ? "blue" : "grey";
		}, name);
		assert.equal(await hue("lpushCommand"), "orange");
		assert.equal(await hue("tryObjectEncoding"), "blue");
		assert.equal(await hue("zaddCommand"), "grey");
		const older = readFolded("older", INUSE_SPACE);
		await page.getByRole("button", { name: /^gone: / }).click();
		const dialog = page.getByRole("dialog", { name: "What is gone" });
		assert.match(await dialog.innerText(), /254 KiB \(live bytes\) in 1 stack\./);
		const stacks = readFolded("compared", INUSE_SPACE).map((s) => s.frames.join(";"));
		const gone = older.filter((s) => !stacks.includes(s.frames.join(";")));
		assert.deepEqual(await dialog.locator("td[data-exact]").evaluateAll((cells) => cells.map((c) => Number(c.dataset.exact))),
			gone.map((s) => s.number));
		await dialog.getByRole("button", { name: /^CRYPTO_clear_realloc/ }).click();
		assert.ok(!(await dialog.isVisible()));
		assert.equal((await view.path()).pop(), "CRYPTO_clear_realloc");
		assert.equal(await view.total(INUSE_SPACE), sum(older), "the older profile's total");
		await page.keyboard.press("0");
		await view.expectRow(12, children(older, ["_start", "__libc_start_main", "main", "aeMain", "aeProcessEvents",
			"connSocketEventHandler", "readQueryFromClient", "processInputBuffer", "processCommandAndResetClient", "processCommand", "call"]), 0);
		assert.equal(await hue("lpushCommand"), "orange", "the meaning of a colour stays");
	});
});

test("a paint touches what can be seen, however many nodes there are", async () => {
	await withPage("nodes", { width: 1280 }, async (page) => {
		const { painted, nodes, pixels } = await page.evaluate(() => {
			let rectangles = 0;
			const fill = view.context.fillRect;
			view.context.fillRect = (...box) => {
				rectangles++;
				fill.apply(view.context, box);
			};
			const counts = [0, 0.3, 0.9].map((t) => {
				rectangles = 0;
				view.window = { x0: layout.total * t, x1: layout.total * (t + 0.1) };
				view.draw();
				return rectangles;
			});
			return { painted: Math.max(...counts), nodes: tree.count, pixels: view.width * view.height / ROW_HEIGHT };
		});
		assert.ok(nodes > 80000 && painted < pixels / 2, `${painted} rectangles of ${nodes} nodes on ${pixels} pixels`);
	});
});

test("100,000 nodes: load time and frame rate, for information", async (t) => {
	await withPage("nodes", { width: 1280 }, async (page, view) => {
		const info = await page.evaluate(async () => {
			const loaded = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd;
			const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
			const rate = async (steps, move) => {
				const start = performance.now();
				for (let i = 0; i < steps; i++) {
					move(i / steps);
					await frame();
				}
				return Math.round((1000 * steps) / (performance.now() - start));
			};
			const total = layout.total;
			const nodes = tree.count;
			const pan = await rate(60, (t) => view.pan(total * 0.5 * t, total * (0.5 * t + 0.4)));
			const zoom = await rate(60, (t) => view.pan(total * 0.3 * t, total * (1 - 0.69 * t)));
			const start = performance.now();
			for (let i = 0; i < 1000; i++)
				view.nodeAt(Math.random() * view.width, Math.random() * view.height);
			return { loaded: Math.round(loaded), nodes, pan, zoom, hover: (performance.now() - start) / 1000 };
		});
		t.diagnostic(`${info.nodes} nodes: on screen after ${info.loaded} ms, pan ${info.pan} fps, zoom ${info.zoom} fps, ` +
			`hover ${(info.hover * 1000).toFixed(1)} us`);
		assert.ok(info.nodes > 80000);
		assert.equal(await view.frameAt(0, 0.5), "All stacks");
	});
});
