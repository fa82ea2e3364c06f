# SPDX-License-Identifier: MIT
# See words.py.
Node = Struct.new(:word, :left, :right, :note)

def tree(words, low, high)
  return nil if low == high
  middle = (low + high) / 2
  Node.new(words[middle], tree(words, low, middle), tree(words, middle + 1, high), words[middle] * 9)
end

def depth(node)
  node ? 1 + [depth(node.left), depth(node.right)].max : 0
end

index = Hash.new { |hash, word| hash[word] = [] }
File.foreach(ARGV[0]).with_index { |line, number| line.split.each { |word| index[word] << number } }
words = index.keys.sort
root = nil
6.times { root = tree(words, 0, words.size) }
lines = words.map { |word| "#{word.upcase}: #{index[word].join(', ')}" }
puts "#{words.size} #{depth(root)} #{lines.sum(&:size)}"
