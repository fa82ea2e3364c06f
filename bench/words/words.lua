-- SPDX-License-Identifier: MIT
-- See words.py.
local function tree(words, low, high)
	if low > high then return nil end
	local middle = (low + high) // 2
	return {word = words[middle], left = tree(words, low, middle - 1), right = tree(words, middle + 1, high)}
end

local function depth(node)
	return node and 1 + math.max(depth(node.left), depth(node.right)) or 0
end

local index, words, number, bytes, root = {}, {}, 0, 0, nil
for line in io.lines(arg[1]) do
	number = number + 1
	for word in line:gmatch("%S+") do
		local at = index[word]
		if not at then
			at = {}
			index[word] = at
			words[#words + 1] = word
		end
		at[#at + 1] = number
	end
end
table.sort(words)
for _ = 1, 15 do root = tree(words, 1, #words) end
for _, word in ipairs(words) do
	bytes = bytes + #(word:upper() .. ": " .. table.concat(index[word], ", "))
end
print(#words, depth(root), bytes)
