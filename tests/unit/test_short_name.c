// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "short_name.h"

static void names_become_short(void **state)
{
	static const char *const names[][2] = {
		{"main", "main"},
		{"operator new(unsigned long)", "operator new"},
		{"operator new[](unsigned long, std::align_val_t)", "operator new[]"},
		{"std::vector<int, std::allocator<int> >::push_back(int const&)",
			"std::vector::push_back"},
		{"void std::sort<int*, cmp>(int*, int*, cmp)", "std::sort"},
		{"std::map<int, int> make_map<int>(int (*)(char)) const", "make_map"},
		{"(anonymous namespace)::Cache::fill(int)", "(anon)::Cache::fill"},
		{"a::b(int)::{lambda(int)#1}::operator()(int) const",
			"a::b::{lambda#1}::operator()"},
		{"std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"},
		{"bool operator<(A const&, A const&)", "operator<"},
		{"A::operator->() const", "A::operator->"},
		{"A::operator bool() const", "A::operator bool"},
		{"my_operator(int)", "my_operator"},
		{"parse(char const*) [clone .cold]", "parse"},
		{"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
			"alloc::vec::Vec::extend"},
		{"<<A<B> as C>::D as E<F>>::go", "A::D::go"},
		{"core::ptr::drop_in_place<Foo>", "core::ptr::drop_in_place"},
		{"std::panic::catch_unwind::<std::rt::lang_start_internal::{closure#0}, isize>",
			"std::panic::catch_unwind"},
		{"<a::Vec<_>>::reserve::handle::<a::Global>::{closure#0}",
			"a::Vec::reserve::handle::{closure#0}"},
		{"a::map::<fn(i32) -> b::C, i32>::go", "a::map::go"},
		{"<&dyn core::ops::Fn<(), Output = i32> + core::marker::Sync as "
		 "core::ops::FnOnce<()>>"
		 "::call_once",
			"core::ops::Fn::call_once"},
		{"::<a>", "::<a>"},
		{"[stack map full]", "[stack map full]"},
		{"<script>alert(1)</script>", "<script>alert(1)</script>"},
		{"<<<<<<<", "<<<<<<<"},
		{"((((", "(((("},
		{">)>)", ">)>)"},
		{"", ""},
	};
	char out[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(ap_short_name(out, sizeof(out), names[i][0]), strlen(names[i][1]));
		assert_string_equal(out, names[i][1]);
	}
}

static void room_is_kept(void **state)
{
	char out[8] = "abcdefg";

	assert_int_equal(ap_short_name(out, 5, "std::vector<int>::push_back(int)"), 4);
	assert_string_equal(out, "std:");
	assert_int_equal(out[5], 'f');
	assert_int_equal(ap_short_name(out, 5, "a_long_plain_name"), 4);
	assert_int_equal(out[5], 'f');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_short),
		cmocka_unit_test(room_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
