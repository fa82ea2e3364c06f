// SPDX-License-Identifier: MIT
// A threaded C++ program: containers, strings, exceptions, shared and thread-local objects with
// destructors. Prints sums that depend on nothing but its work.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{
struct alignas(64) Line {
	uint64_t words[8];
};

struct Node {
	std::unique_ptr<Node> left, right;
	std::string name;
};

struct Local {
	std::vector<std::string> words;
	~Local()
	{
		ended += words.size();
	}
	static std::atomic<uint64_t> ended;
};

std::atomic<uint64_t> Local::ended;
thread_local Local local;

std::mutex mutex;
std::vector<std::shared_ptr<std::map<int, std::string>>> shared;

std::unique_ptr<Node> grow(int depth)
{
	auto node = std::make_unique<Node>();
	node->name = std::string(depth * 3, 'a' + depth % 26);
	if (depth > 0) {
		node->left = grow(depth - 1);
		node->right = grow(depth - 1);
	}
	return node;
}

uint64_t count(const Node *node)
{
	return node ? node->name.size() + count(node->left.get()) + count(node->right.get()) : 0;
}

uint64_t work(int seed)
{
	std::unordered_map<std::string, std::vector<int>> index;
	uint64_t sum = 0, random = seed * 0x9e3779b97f4a7c15 | 1;

	for (int i = 0; i < 20000; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		index["key " + std::to_string((random >> 33) % 5000)].push_back(i);
		if (i % 100 == 0) {
			local.words.push_back(std::string(i % 500, 'x'));
			try {
				throw std::runtime_error("number " + std::to_string(i));
			} catch (const std::exception &error) {
				sum += std::string(error.what()).size();
			}
		}
	}
	for (auto &[key, numbers] : index) {
		std::sort(numbers.rbegin(), numbers.rend());
		sum += key.size() * numbers.front();
	}
	sum += count(grow(12).get());
	std::vector<Line> lines(1000);
	for (auto &line : lines)
		sum += reinterpret_cast<uintptr_t>(&line) % 64;
	auto map = std::make_shared<std::map<int, std::string>>();
	for (int i = 0; i < 1000; i++)
		(*map)[i * 7919 % 1000] = std::string(i % 60, 'y');
	std::lock_guard<std::mutex> guard(mutex);
	shared.push_back(map);
	if (shared.size() > 3) // made by other threads, ended by this one
		shared.erase(shared.begin(), shared.begin() + 2);
	return sum;
}
} // namespace

int main()
{
	std::vector<uint64_t> sums(24);

	for (int round = 0; round < 4; round++) {
		std::vector<std::thread> threads;
		for (int i = 0; i < 6; i++)
			threads.emplace_back(
				[&sums, round, i] { sums[round * 6 + i] = work(round * 6 + i); });
		for (auto &thread : threads)
			thread.join();
	}
	for (auto sum : sums)
		std::printf("%llu\n", static_cast<unsigned long long>(sum));
	std::printf("%llu ended\n", static_cast<unsigned long long>(Local::ended.load()));

	// More than there is: an exception, NULL, and the new handler's turn.
	volatile size_t much = SIZE_MAX / 4;
	try {
		delete[] new char[much];
		std::puts("?");
	} catch (const std::bad_alloc &) {
		std::puts("bad_alloc");
	}
	if (!new (std::nothrow) char[much])
		std::puts("null");
	static int called;
	std::set_new_handler([] {
		if (++called == 3)
			std::set_new_handler(nullptr);
	});
	try {
		delete[] new char[much];
	} catch (const std::bad_alloc &) {
		std::printf("handler called %d times\n", called);
	}
	return 0;
}
