// SPDX-License-Identifier: MIT
/*
 * The picture: colours, and a canvas the size of its window on the tree. Of each row only what is
 * in sight and about a pixel wide is touched, by binary search, so a frame costs rows times
 * pixels and not nodes.
 */
"use strict";

const ROW_HEIGHT = 21;
const FONT_SIZE = 12;
const NARROW = 0.8; // pixels below which frames are not told apart
const LABEL_MIN = 26; // pixels below which a frame has no text
const SHARE_MIN = 150; // and below which it does not show its share of the whole
const CHANGE_MIN = 88; // in a comparison: and below which it does not say what changed
const ZOOM_MS = 200;

/* --- colours */

/* OKLCH, where equal lightness looks equally light, to "rgb(r,g,b)". Hue in degrees. */
function oklch(lightness, chroma, hue) {
	const a = chroma * Math.cos((hue * Math.PI) / 180);
	const b = chroma * Math.sin((hue * Math.PI) / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const gamma = (c) => {
		const x = Math.min(1, Math.max(0, c));
		return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
	};
	const red = gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
	const green = gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
	const blue = gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
	return `rgb(${red},${green},${blue})`;
}

const THEMES = {
	light: {
		paper: "#ffffff",
		text: "#1b2230",
		share: "rgba(27,34,48,0.8)",
		crumb: "#dfe3ea",
		light: 0.875,
		chroma: 0.08,
		swatch: 0.81,
		fade: [0.95, 0.012],
		match: [0.8, 0.135, 345],
		hover: "rgba(0,0,0,0.10)",
		ring: "#1b4fd6",
	},
	dark: {
		paper: "#14171d",
		text: "#f0f2f6",
		share: "rgba(240,242,246,0.92)",
		crumb: "#2a2f39",
		light: 0.475,
		chroma: 0.078,
		swatch: 0.58,
		fade: [0.28, 0.012],
		match: [0.5, 0.19, 345],
		hover: "rgba(255,255,255,0.14)",
		ring: "#8fb4ff",
	},
};

class Palette {
	constructor(profile, dark) {
		this.theme = dark ? THEMES.dark : THEMES.light;
		const { light, chroma, fade, match } = this.theme;
		this.root = oklch(light + (dark ? -0.08 : 0.05), 0.008, 260);
		this.match = oklch(...match);
		this.plain = profile.functions.map((func) => {
			if (func.reserved)
				return oklch(light - 0.05, 0.0, 0);
			const lighter = ((func.shade % 100) / 100 - 0.5) * 0.055;
			const turn = (Math.floor(func.shade / 100) / 100 - 0.5) * 16;
			return oklch(light + lighter, func.library === "" && !func.group ? 0.02 : chroma, func.hue + turn);
		});
		this.faded = profile.functions.map((func) => oklch(fade[0], fade[1], func.hue));
		// Blue for less, orange for more: told apart with any colour vision, and by lightness.
		this.change = [];
		for (let i = -20; i <= 20; i++) {
			const depth = Math.abs(i) / 20;
			const toward = dark ? 0.08 : -0.14;
			this.change.push(
				oklch(light + toward * depth + (dark ? -0.08 : 0.04), 0.004 + 0.135 * depth, i < 0 ? 250 : 58));
		}
	}

	/* From -1, all gone, to 1, all new. */
	changeColour(change) {
		return this.change[20 + Math.round(20 * Math.min(1, Math.max(-1, change)))];
	}

	swatch(func) {
		return this.plain[func.id];
	}
}

/* --- text that fits */

class TextFitter {
	constructor(context) {
		this.context = context;
		this.widths = new Map();
	}

	charWidth(c) {
		let width = this.widths.get(c);
		if (width === undefined) {
			width = this.context.measureText(c).width;
			this.widths.set(c, width);
		}
		return width;
	}

	width(text) {
		let width = 0;
		for (let i = 0; i < text.length; i++)
			width += this.charWidth(text[i]);
		return width;
	}

	/* The text, or its beginning and "…", or "" when not even three letters fit. */
	fit(text, room) {
		let width = 0;
		let cut = 0;
		const ellipsis = this.charWidth("\u2026");
		for (let i = 0; i < text.length; i++) {
			width += this.charWidth(text[i]);
			if (width + ellipsis <= room)
				cut = i + 1;
			if (width > room)
				return cut < 3 ? "" : text.slice(0, cut) + "\u2026";
		}
		return text;
	}
}

/* --- the view */

class FlameView {
	/* scroller: the element with the scroll bar; it holds `sizer`, which holds the canvas. */
	constructor(scroller, sizer, canvas) {
		this.scroller = scroller;
		this.sizer = sizer;
		this.canvas = canvas;
		this.context = canvas.getContext("2d");
		this.layout = null;
		this.palette = null;
		this.matched = null;
		this.zoomed = 0;
		this.window = { x0: 0, x1: 1 }; // what is in sight, in units of the value
		this.hover = -1;
		this.selected = -1;
		this.flip = false;
		this.pending = 0;
		this.animation = null;
		this.printing = false;
		this.frames = 0; // drawn so far
		scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
		new ResizeObserver(() => this.resize()).observe(scroller);
	}

	setLayout(layout, zoomed) {
		this.layout = layout;
		this.hover = -1;
		this.zoomed = zoomed;
		this.animation = null;
		this.window = this.windowOf(zoomed);
		this.resize();
	}

	windowOf(node) {
		const { x0, width } = this.layout;
		return { x0: x0[node], x1: x0[node] + (width[node] || 1) };
	}

	/* Zooms so that the node fills the width. */
	zoom(node, animate) {
		this.zoomed = node;
		const to = this.windowOf(node);
		const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		this.animation = animate && !calm ? { from: this.window, to, start: 0 } : null;
		if (!this.animation)
			this.window = to;
		this.redraw();
	}

	/* Moves the window, within the root. */
	pan(x0, x1) {
		const total = this.layout.total || 1;
		const size = Math.min(total, Math.max(total * 1e-9, x1 - x0));
		const from = Math.min(total - size, Math.max(0, x0));
		this.animation = null;
		this.window = { x0: from, x1: from + size };
		this.redraw();
	}

	resize() {
		if (!this.layout)
			return;
		this.width = this.scroller.clientWidth;
		this.height = this.printing ? this.contentHeight() : this.scroller.clientHeight;
		const ratio = window.devicePixelRatio || 1;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = this.width + "px";
		this.canvas.style.height = this.height + "px";
		this.sizer.style.height = Math.max(this.height, this.contentHeight()) + "px";
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.draw(); // at once: a canvas that changes its size is blank
	}

	contentHeight() {
		return this.layout.rows.length * ROW_HEIGHT + 2;
	}

	redraw() {
		if (this.pending === 0)
			this.pending = requestAnimationFrame((now) => {
				this.pending = 0;
				this.step(now);
				this.draw();
			});
	}

	step(now) {
		if (!this.animation)
			return;
		const { from, to } = this.animation;
		this.animation.start ||= now;
		const t = Math.min(1, (now - this.animation.start) / ZOOM_MS);
		const ease = 1 - (1 - t) ** 3;
		this.window = {
			x0: from.x0 + (to.x0 - from.x0) * ease,
			x1: from.x1 + (to.x1 - from.x1) * ease,
		};
		if (t === 1) {
			this.window = to;
			this.animation = null;
		} else {
			this.redraw();
		}
	}

	/* The top of a row, in pixels from the top of the content. */
	rowTop(depth) {
		const last = Math.max(this.contentHeight(), this.height) - ROW_HEIGHT - 1;
		return this.flip ? last - depth * ROW_HEIGHT : 1 + depth * ROW_HEIGHT;
	}

	scale() {
		return this.width / (this.window.x1 - this.window.x0);
	}

	/* A node's rectangle in the canvas; it may be out of sight. */
	rectangle(node) {
		const { x0, width, depth } = this.layout;
		const left = (x0[node] - this.window.x0) * this.scale();
		const right = left + width[node] * this.scale();
		const top = this.rowTop(depth[node]) - (this.printing ? 0 : this.scroller.scrollTop);
		const from = Math.max(0, left);
		return { x: from, y: top, width: Math.min(this.width, right) - from, height: ROW_HEIGHT };
	}

	/* The node at a point of the canvas, or -1. */
	nodeAt(x, y) {
		if (!this.layout)
			return -1;
		const top = y + this.scroller.scrollTop;
		const depth = Math.floor(
			(this.flip ? this.rowTop(0) + ROW_HEIGHT - top : top - 1) / ROW_HEIGHT);
		const row = this.layout.rows[depth];
		if (!row)
			return -1;
		const at = this.window.x0 + x / this.scale();
		const i = findInRow(this.layout, row, at);
		if (i < 0)
			return -1;
		const node = row[i];
		return at < this.layout.x0[node] + this.layout.width[node] ? node : -1;
	}

	/* Scrolls so that a node's row is in sight. */
	reveal(node) {
		const top = this.rowTop(this.layout.depth[node]);
		const { scrollTop, clientHeight } = this.scroller;
		if (top < scrollTop + ROW_HEIGHT)
			this.scroller.scrollTop = top - ROW_HEIGHT;
		else if (top + 2 * ROW_HEIGHT > scrollTop + clientHeight)
			this.scroller.scrollTop = top + 2 * ROW_HEIGHT - clientHeight;
	}

	draw() {
		const { context, layout, palette } = this;
		if (!layout || !palette)
			return;
		this.frames++;
		const { theme } = palette;
		const scrollTop = this.printing ? 0 : this.scroller.scrollTop;
		context.fillStyle = theme.paper;
		context.fillRect(0, 0, this.width, this.height);
		context.font = FONT_SIZE + "px " + getComputedStyle(this.canvas).fontFamily;
		context.textBaseline = "middle";
		this.fitter ||= new TextFitter(context);
		this.ancestors = new Set(layout.tree.path(this.zoomed));
		this.ancestors.add(0).delete(this.zoomed);
		for (let d = 0; d < layout.rows.length; d++) {
			const y = this.rowTop(d) - scrollTop;
			if (y + ROW_HEIGHT >= 0 && y <= this.height)
				this.drawRow(layout.rows[d], y);
		}
		for (const [node, style] of [[this.hover, theme.hover], [this.selected, null]]) {
			if (node < 0 || !layout.width[node])
				continue;
			const r = this.rectangle(node);
			if (style) {
				context.fillStyle = style;
				context.fillRect(r.x, r.y, Math.max(1, r.width - 1), r.height - 1);
			} else if (r.width > 0) {
				context.strokeStyle = theme.ring;
				context.lineWidth = 2;
				context.strokeRect(r.x + 1, r.y + 1, Math.max(1, r.width - 3), r.height - 3);
			}
		}
	}

	drawRow(row, y) {
		const { context, layout, palette } = this;
		const { x0, width } = layout;
		const scale = this.scale();
		const start = this.window.x0;
		let i = Math.max(0, findInRow(layout, row, start));
		while (i < row.length) {
			const node = row[i];
			const left = (x0[node] - start) * scale;
			if (left >= this.width)
				break;
			const right = left + width[node] * scale;
			if (right <= 0) {
				i++;
				continue;
			}
			if (right - left < NARROW) {
				// Too narrow to be told apart: one pixel of grey, and on to the next pixel.
				context.fillStyle = palette.theme.crumb;
				context.fillRect(Math.floor(left), y, 1, ROW_HEIGHT - 1);
				i = Math.max(i + 1, findInRow(layout, row, start + (Math.floor(left) + 1) / scale));
				continue;
			}
			const from = Math.max(0, left);
			const to = Math.min(this.width, right);
			const wide = to - from;
			const above = this.ancestors.has(node);
			if (above)
				context.globalAlpha = 0.55;
			context.fillStyle = this.colour(node);
			context.fillRect(from, y, wide > 2 ? wide - 1 : wide, ROW_HEIGHT - 1);
			if (above)
				context.globalAlpha = 0.8;
			if (wide >= LABEL_MIN)
				this.drawLabel(node, from, wide, y);
			if (above)
				context.globalAlpha = 1;
			i++;
		}
	}

	/*
	 * The name, and at the right the share of the whole where there is room to spare. In a
	 * comparison it is the change that one looks for: names make room for it.
	 */
	drawLabel(node, x, wide, y) {
		const share = this.shareOf ? this.shareOf(node) : "";
		const changed = this.layout.tree.baseTotal !== null && wide >= CHANGE_MIN;
		const taken = changed ? this.fitter.width(share) + 8 : 0;
		const text = this.fitter.fit(this.label(node), wide - 11 - taken);
		if (text === "")
			return;
		this.context.fillStyle = this.palette.theme.text;
		this.context.fillText(text, x + 5, y + ROW_HEIGHT / 2);
		const room = wide - 24 - this.fitter.width(text);
		if (!changed && (wide < SHARE_MIN || room < this.fitter.width(share)))
			return;
		this.context.fillStyle = this.palette.theme.share;
		this.context.fillText(share, x + wide - 6 - this.fitter.width(share), y + ROW_HEIGHT / 2);
	}

	label(node) {
		return this.labelOf ? this.labelOf(node) : "";
	}

	colour(node) {
		const { layout, palette } = this;
		const func = layout.tree.function[node];
		if (this.matched && func >= 0 && this.matched[func])
			return palette.match;
		if (layout.tree.baseTotal)
			return palette.changeColour(this.changeOf(node));
		if (func < 0)
			return palette.root;
		return this.matched ? palette.faded[func] : palette.plain[func];
	}

	/* How much a node grew, as a share of the larger of its two values. */
	changeOf(node) {
		const { tree, value } = this.layout;
		const now = tree.total[4 * node + value];
		const then = tree.baseTotal[4 * node + value];
		const larger = Math.max(Math.abs(now), Math.abs(then));
		return larger === 0 ? 0 : (now - then) / larger;
	}
}
