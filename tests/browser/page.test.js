// SPDX-License-Identifier: MIT
/* What is around the picture: tables, header, paper, phones, files; and what must not get through. */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { before, after, test } = require("node:test");
const { launch, shutdown, withPage, readFolded, sum, shot } = require("./harness.js");

const ALLOC_SPACE = 1;
const INUSE_SPACE = 3;

before(launch);
after(shutdown);

/* As WCAG defines it, of two colours of [r, g, b]. */
function contrast(a, b) {
	const light = (rgb) => {
		const [red, green, blue] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
		return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
	};
	const [less, more] = [light(a), light(b)].sort((x, y) => x - y);
	return (more + 0.05) / (less + 0.05);
}

test("text can be read on every colour: contrast of 4.5, as WCAG AA asks", async () => {
	for (const dark of [false, true]) {
		for (const name of ["compared", "server"]) {
			await withPage(name, { dark, width: 1800, hash: "view=both" }, async (page, view) => {
				await view.search("zmalloc");
				const painted = await page.evaluate((isDark) => {
					const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
					const hex = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
					const functions = [];
					for (let hue = 0; hue < 360; hue += 5)
						for (const shade of [0, 99, 9900, 9999])
							functions.push({ hue, shade, library: "any" });
					const { theme, root, match, change, plain, faded } = new Palette({ functions }, isDark);
					const grounds = [root, match, ...change, ...plain, ...faded];
					const share = numbers(theme.share);
					const over = (ground) => share.slice(0, 3).map((c, i) => c * share[3] + ground[i] * (1 - share[3]));
					return grounds.map(numbers).flatMap((ground) => [[hex(theme.text), ground, "name"], [over(ground), ground, "share"]]);
				}, dark);
				const written = await page.evaluate(() => {
					const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
					const ground = (element) => {
						for (; element; element = element.parentElement) {
							const colour = numbers(getComputedStyle(element).backgroundColor);
							if (colour.length === 3)
								return colour;
						}
						return [255, 255, 255];
					};
					const texts = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.disabled && !e.closest("dialog") &&
						[...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim()));
					return texts.map((e) => [numbers(getComputedStyle(e).color), ground(e), e.outerHTML.slice(0, 80)]);
				});
				for (const [text, ground, what] of [...painted, ...written])
					assert.ok(contrast(text.slice(0, 3), ground) >= 4.5, `${what}: ${text} on ${ground}, ${contrast(text.slice(0, 3), ground).toFixed(2)}`);
			});
		}
	}
});

test("visible focus", async () => {
	await withPage("small", {}, async (page) => {
		for (let i = 0; i < 25; i++) {
			await page.keyboard.press("Tab");
			const seen = await page.evaluate(() => {
				const at = document.activeElement;
				const ring = (e) => getComputedStyle(e).outlineStyle !== "none" && parseFloat(getComputedStyle(e).outlineWidth) > 0;
				return at === document.body || ring(at) || at.closest("#search") !== null;
			});
			assert.ok(seen, `stop ${i}`);
		}
	});
});

test("the table sorts, and holds every function", async () => {
	await withPage("small", {}, async (page, view) => {
		await page.getByRole("radio", { name: "Functions" }).click();
		const names = async () => (await view.functions()).map((row) => row[0]);
		assert.deepEqual(await names(), ["entry_new", "token", "cache_fill", "[stack unreadable]", "main", "parse"]);
		await page.getByRole("button", { name: "Total", exact: true }).click();
		assert.deepEqual(await names(), ["main", "cache_fill", "entry_new", "token", "parse", "[stack unreadable]"]);
		assert.equal(await page.locator("th.total").getAttribute("aria-sort"), "descending");
		await page.getByRole("button", { name: "Total", exact: true }).click();
		assert.deepEqual(await names(), ["[stack unreadable]", "parse", "token", "entry_new", "cache_fill", "main"]);
		await page.getByRole("button", { name: "Function", exact: true }).click();
		assert.deepEqual(await names(), [...(await names())].sort());
		const token = (await view.functions()).find((row) => row[0] === "token");
		assert.deepEqual(token.slice(1, 5), ["2.09 KiB", "35.7%", "2.09 KiB", "35.7%"]);
		const parse = (await view.functions()).find((row) => row[0] === "parse");
		assert.deepEqual(parse.slice(1, 5), ["–", "", "2.05 KiB", "35.0%"]);
		await view.search("c");
		assert.deepEqual(await names(), ["[stack unreadable]", "cache_fill"]);
	});
	await withPage("nodes", { hash: "view=table" }, async (page, view) => {
		const rows = Number(await page.locator("#functions table").getAttribute("aria-rowcount")) - 1;
		const present = new Set(readFolded("nodes", INUSE_SPACE).flatMap((s) => s.frames));
		assert.equal(rows, present.size, "narrow ones too");
		assert.equal((await view.functions()).length, 200);
		await page.locator(".more").click();
		assert.equal((await view.functions()).length, 1200);
	});
});

test("callers and callees add up to the total", async () => {
	for (const name of ["small", "server"]) {
		await withPage(name, { hash: "view=table", width: 1500 }, async (page, view) => {
			for (const value of name === "small" ? [ALLOC_SPACE, INUSE_SPACE] : [INUSE_SPACE]) {
				await view.show(value);
				const stacks = readFolded(name, value);
				const count = Math.min(15, await page.locator("#functions tbody tr").count());
				for (let i = 0; i < count; i++) {
					const button = page.locator("#functions tbody tr").nth(i).getByRole("button");
					const func = await button.textContent();
					await button.click();
					const parts = await page.evaluate(() => ["callers", "callees"].map((id) =>
						[...document.querySelectorAll(`#${id} tr`)].map((row) =>
							[row.cells[0].textContent, Number(row.cells[1].dataset.exact)])));
					const expected = sum(stacks.filter((s) => s.frames.includes(func)));
					for (const [which, part] of parts.entries())
						assert.equal(part.reduce((t, e) => t + e[1], 0), expected, `${func}, ${["callers", "callees"][which]}`);
					assert.equal(Number(await page.locator("#sandwich").getAttribute("data-total")), expected);
				}
			}
		});
	}
	await withPage("small", { hash: "view=table" }, async (page) => {
		await page.locator("#functions").getByRole("button", { name: "token" }).click();
		const rows = (id) => page.locator(`#${id} tr`).allInnerTexts();
		assert.deepEqual((await rows("callers")).map((t) => t.split(/\s/)[0]), ["parse", "main"]);
		await page.locator("#callers").getByRole("button", { name: "parse" }).click();
		assert.equal(await page.locator("#sandwich h2").textContent(), "parse");
		assert.deepEqual((await rows("callers")).map((t) => t.split(/\s/)[0]), ["main"], "not from itself");
		await page.getByRole("button", { name: "Show in picture" }).click();
		assert.equal(await page.locator("#search-text").inputValue(), "is:parse");
	});
});

test("hostile names are text", async () => {
	await withPage("hostile", { hash: "view=both" }, async (page, view) => {
		const names = (await view.functions()).map((row) => row[0]);
		for (const name of ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "<img src=x onerror=alert(3)>",
			"<!--<script>", "\"'`;\\u003cb\\u003e &lt;b&gt; ${alert(4)}", "__proto__", "constructor", "🔥 火焔"])
			assert.ok(names.includes(name), name);
		assert.ok(names.some((n) => /^bad\ufffd/.test(n)), "what is no UTF-8 is replaced");
		assert.ok(!names.some((n) => /[\u0000-\u001f\u2028\u2029\u202e]/.test(n)), "nothing invisible");
		assert.equal(await page.locator("h1").textContent(), "<script>alert(5)</script>");
		assert.equal(await page.evaluate("document.querySelectorAll('img, b:not(#facts b):not(.frame-shares b)').length"), 0);
		for (const row of await page.locator("#functions tbody button").all())
			await row.click();
		await view.search("<script>");
		for (let i = 0; i < 12; i++)
			await view.frameAt(1, (i + 0.5) / 12);
		await view.choose(1, 0.97, "Hide");
		await page.getByLabel("Group by").selectOption("thread");
		assert.equal(await view.frameAt(1, 0.5), "</script><img src=x>");
		assert.match(await page.locator("#facts").innerText(), /left out 0 B live, 0 B allocated, by -X '<b onclick=alert\(8\)>'/);
	});
});

test("the policy stops what would get past the escaping", async () => {
	await withPage("hostile", { tolerate: /TrustedScript|Content Security Policy/ }, async (page) => {
		const ran = await page.evaluate(() => {
			const script = document.createElement("script");
			try {
				script.append("window.ran = true");
				document.body.append(script);
			} catch (error) {
				return "stopped";
			}
			return window.ran ? "ran" : "stopped";
		});
		assert.equal(ran, "stopped");
	});
});

test("without script there is a table", async () => {
	for (const name of ["server", "hostile", "empty"]) {
		await withPage(name, { script: false }, async (page) => {
			assert.ok(await page.locator("noscript table").isVisible());
			const rows = await page.locator("noscript tbody tr").count();
			assert.ok(rows >= 1 && rows <= 21, `${rows} rows`);
			const total = await page.locator("noscript tbody tr").first().locator("td").nth(1).getAttribute("title");
			assert.equal(Number(total), sum(readFolded(name, INUSE_SPACE)));
			assert.ok(!(await page.locator("#canvas").isVisible()));
		});
	}
});

test("a phone's width", async () => {
	await withPage("server", { width: 360, height: 740, touch: true }, async (page, view) => {
		const fits = () => page.evaluate("document.documentElement.scrollWidth <= innerWidth");
		assert.ok(await fits(), "no sideways scrolling");
		const [x, y] = await view.point(3, 0.4);
		await page.touchscreen.tap(x, y);
		assert.match(await page.locator("#actions .frame-name").textContent(), /^main$/);
		const card = await page.locator("#actions").boundingBox();
		assert.ok(card.x >= 0 && card.x + card.width <= 360);
		await shot(page, "phone-card");
		await page.getByRole("menuitem", { name: "Zoom" }).click();
		assert.equal((await view.path()).pop(), "main");
		await page.getByRole("button", { name: "Options" }).click();
		await view.toggle("Bottom-up");
		await page.getByRole("radio", { name: "Functions" }).click();
		assert.ok(await fits());
		await page.locator("#functions").getByRole("button", { name: "zmalloc" }).click();
		assert.ok(await fits());
		await page.locator("#help-button").click();
		assert.ok(await fits());
	});
});

test("dark follows the system, and the switch", async () => {
	const becomes = (page, colour) => page.waitForFunction((wanted) =>
		getComputedStyle(document.body).backgroundColor === wanted, colour);
	const [light, dark] = ["rgb(255, 255, 255)", "rgb(20, 23, 29)"];
	await withPage("small", { dark: true }, async (page) => {
		await becomes(page, dark);
		await page.emulateMedia({ colorScheme: "light" });
		await becomes(page, light);
		await page.getByRole("button", { name: "Light or dark" }).click();
		await becomes(page, dark);
		assert.match(await page.evaluate("location.hash"), /theme=dark/);
		await page.keyboard.press("d");
		await becomes(page, light);
	});
});

test("printing", async () => {
	await withPage("server", { dark: true }, async (page) => {
		const pdf = await page.pdf({ path: process.env.SHOTS + "/server.pdf", preferCSSPageSize: true });
		assert.ok(pdf.length > 20000);
		await page.emulateMedia({ media: "print" });
		await page.evaluate("window.dispatchEvent(new Event('beforeprint'))");
		assert.ok(!(await page.locator("#search").isVisible()));
		assert.ok(await page.locator("#canvas").isVisible());
		assert.equal(await page.locator("#functions tbody tr").count(), 20);
		assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
		await page.evaluate("window.dispatchEvent(new Event('afterprint'))");
		await page.emulateMedia({ media: "screen" });
		assert.ok(!(await page.locator("#functions").isVisible()));
		assert.equal(await page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 29)");
	});
});

test("saves folded stacks", async () => {
	await withPage("small", {}, async (page) => {
		await page.getByRole("button", { name: "Share" }).click();
		const [download] = await Promise.all([page.waitForEvent("download"),
			page.getByRole("menuitem", { name: "Save folded stacks" }).click()]);
		assert.equal(download.suggestedFilename(), "small-live-bytes.folded");
		const saved = fs.readFileSync(await download.path(), "utf8").trim().split("\n").sort();
		const expected = readFolded("small", INUSE_SPACE).filter((s) => s.number > 0)
			.map((s) => s.frames.join(";") + " " + s.number).sort();
		assert.deepEqual(saved, expected);
	});
});

test("saves the profile, byte for byte", async () => {
	await withPage("small", {}, async (page) => {
		await page.getByRole("button", { name: "Share" }).click();
		const [download] = await Promise.all([page.waitForEvent("download"),
			page.getByRole("menuitem", { name: "Save the profile" }).click()]);
		assert.equal(download.suggestedFilename(), "small.pb.gz");
		assert.deepEqual(fs.readFileSync(await download.path()), fs.readFileSync(process.env.PAGES + "/small.pb.gz"));
	});
	await withPage("stacks", {}, async (page) => {
		await page.getByRole("button", { name: "Share" }).click();
		assert.ok(await page.getByRole("menuitem", { name: "Save the profile (.pb.gz) too large" }).isDisabled());
	});
});

test("copies a stack as a folded line", async () => {
	await withPage("small", {}, async (page, view) => {
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		const copied = () => page.evaluate("navigator.clipboard.readText()");
		const [x, y] = await view.point(3, 0.01);
		await page.keyboard.down("Alt");
		await page.mouse.click(x, y);
		await page.keyboard.up("Alt");
		await page.locator("#notice").waitFor();
		assert.equal(await copied(), "main;cache_fill;entry_new 3000");
		assert.deepEqual(await view.path(), ["All stacks"], "without a zoom");
		await view.toggle("Bottom-up");
		await view.choose(2, 0.01, "Copy the stack");
		await page.waitForFunction("navigator.clipboard.readText().then((t) => t.startsWith('cache_fill;'))");
		assert.equal(await copied(), "cache_fill;entry_new 3000");
	});
});

test("the header says what was recorded", async () => {
	await withPage("server", {}, async (page) => {
		assert.equal(await page.title(), "redis-server (4127): memory");
		assert.match(await page.locator("header").innerText(), /redis-server \*:6379 · pid 4127 · db-14/);
		const facts = await page.locator("#facts").innerText();
		for (const fact of [/from 2026-11-30 08:05:00 UTC/, /for 30\.2 s, interrupted/, /one sample per 512 KiB/,
			/samples 2,318/, /lost 3 \(0\.13%\)/, /whole stacks 97\.2%/])
			assert.match(facts, fact);
	});
});

test("20,000 stacks are less than 2 MB", () => {
	assert.ok(fs.statSync(process.env.PAGES + "/stacks.html").size < 2e6);
});

test("screenshots", async () => {
	for (const [width, height] of [[1280, 800], [2560, 1300], [360, 740]]) {
		for (const dark of [false, true]) {
			for (const name of width === 1280 ? ["server", "compared"] : ["server"])
				await withPage(name, { width, height, dark }, (page) => shot(page, `${name}-${width}-${dark ? "dark" : "light"}`));
		}
	}
	await withPage("nodes", {}, (page) => shot(page, "nodes-1280-light"));
});
