// SPDX-License-Identifier: MIT
// See words.py. Buffers too: theirs is the memory that node takes from malloc.
"use strict";
const fs = require("fs");

function tree(words, low, high) {
  if (low === high) return null;
  const middle = (low + high) >> 1;
  return {word: words[middle], left: tree(words, low, middle), right: tree(words, middle + 1, high)};
}

function depth(node) {
  return node ? 1 + Math.max(depth(node.left), depth(node.right)) : 0;
}

const index = new Map();
fs.readFileSync(process.argv[2], "utf8").split("\n").forEach((line, number) => {
  for (const word of line.split(" ")) {
    if (!index.has(word)) index.set(word, []);
    index.get(word).push(number);
  }
});
const words = [...index.keys()].sort();
let root;
for (let i = 0; i < 20; i++) root = tree(words, 0, words.length);
const copy = JSON.parse(JSON.stringify(root));
let bytes = 0, kept = [];
for (let i = 0; i < 12; i++) {
  for (const word of words) {
    const line = Buffer.alloc(4200 + word.length, word);
    bytes += line.length;
    if (bytes % 7 === 0) kept.push(line);
  }
  kept = kept.slice(-200);
}
console.log(words.length, depth(copy), bytes, kept.length);
