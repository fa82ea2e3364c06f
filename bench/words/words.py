# SPDX-License-Identifier: MIT
"""The same piece of work in each language: an index of the words of a text, and trees of them."""
import json
import sys

def tree(words, low, high):
    if low == high:
        return None
    middle = (low + high) // 2
    return {"word": words[middle], "left": tree(words, low, middle),
            "right": tree(words, middle + 1, high)}

def depth(node):
    return 1 + max(depth(node["left"]), depth(node["right"])) if node else 0

index = {}
with open(sys.argv[1]) as text:
    for number, line in enumerate(text):
        for word in line.split():
            index.setdefault(word, []).append(number)
words = sorted(index)
for _ in range(20):
    root = tree(words, 0, len(words))
copy = json.loads(json.dumps(root))
lines = [word.upper() + ": " + ", ".join(str(n) for n in index[word]) for word in words]
print(len(words), depth(copy), sum(len(line) for line in lines))
