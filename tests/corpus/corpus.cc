// SPDX-License-Identifier: MIT
/* The part of the corpus that only C++ has. */
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "corpus.h"

#define NOINLINE  __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")

namespace
{

struct Guard {
	unsigned long size;
	explicit Guard(unsigned long number) : size(number)
	{
	}
	NOINLINE ~Guard()
	{
		fire(size);
	}
};

struct Problem : std::runtime_error {
	Problem() : std::runtime_error("a problem")
	{
	}
	NOINLINE Problem(const Problem &other) : std::runtime_error(other)
	{
		fire(201);
	}
};

/* The destructor runs while the exception is in flight, called from the unwinder's landing pad. */
NOINLINE void thrower(int depth)
{
	Guard guard(202);
	std::string text(100, 'x');

	if (!depth)
		throw Problem();
	thrower(depth - 1);
	BARRIER();
}

NOINLINE void rethrower()
{
	Guard guard(203);

	try {
		thrower(3);
	} catch (const Problem &) {
		fire(204);
		throw;
	}
}

NOINLINE void exceptions()
{
	try {
		rethrower();
	} catch (Problem copy) {
		fire(205);
	}
	BARRIER();
}

struct Shape {
	virtual ~Shape() = default;
	virtual void draw(int depth) = 0;
};

struct Box final : Shape {
	std::vector<Shape *> parts;
	NOINLINE void draw(int depth) override
	{
		for (Shape *part : parts)
			part->draw(depth + 1);
		if (parts.empty())
			fire(206);
		BARRIER();
	}
};

NOINLINE void virtual_calls()
{
	Box inner, outer;

	outer.parts.push_back(&inner);
	outer.draw(0);
	BARRIER();
}

template <int N> struct Nested {
	static void call(const std::function<void(int)> &function)
	{
		Nested<N - 1>::call(function);
		BARRIER();
	}
};
template <> struct Nested<0> {
	static void call(const std::function<void(int)> &function)
	{
		function(1);
	}
};

NOINLINE void library_callbacks()
{
	std::vector<int> numbers = {5, 3, 4, 1, 2};
	std::map<int, int> map;

	std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
		if (a == 1 && b == 5)
			fire(207);
		return a < b;
	});
	Nested<12>::call([&](int number) {
		map[number] = 1;
		fire(208);
	});
	std::for_each(numbers.begin(), numbers.begin() + 1, [](int) { fire(209); });
	BARRIER();
}

NOINLINE void no_throw() noexcept
{
	Guard guard(210);
	BARRIER();
}

} // namespace

extern "C" void cxx_stacks(void)
{
	exceptions();
	virtual_calls();
	library_callbacks();
	no_throw();
	BARRIER();
}
