// SPDX-License-Identifier: MIT
#include "short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define NESTED_TYPES 4 /* of "<<A as B>::C as D>::e"; deeper names stay as they are */

#define ANONYMOUS "(anonymous namespace)"

struct output {
	char *bytes;
	size_t used, room;
};

static void put(struct output *out, const char *text, size_t length)
{
	if (length > out->room - 1 - out->used)
		length = out->room - 1 - out->used;
	memcpy(out->bytes + out->used, text, length);
	out->used += length;
	out->bytes[out->used] = '\0';
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The length of "operator<<" and the like at this place of a name, or 0. */
static size_t operator_length(const char *name, const char *at)
{
	static const char *const symbols[] = {
		"()", "[]", "<<=", "<=>", "<<", "<=", "<", "->*", "->", ">>=", ">>", ">=", ">"};
	static const size_t word = sizeof("operator") - 1;

	if (strncmp(at, "operator", word) != 0 || (at > name && is_word(at[-1])) ||
		is_word(at[word]))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (strncmp(at + word, symbols[i], strlen(symbols[i])) == 0)
			return word + strlen(symbols[i]);
	return word + strcspn(at + word, "(<");
}

/* Rust writes "f::<A>" where C++ has "f<A>". */
static void turbofish_cut(struct output *out, size_t start)
{
	if (out->used < start + 2 || memcmp(out->bytes + out->used - 2, "::", 2) != 0)
		return;
	out->used -= 2;
	out->bytes[out->used] = '\0';
}

static void plain_put(struct output *out, const char *name)
{
	size_t start = out->used, depth = 0;
	bool after_operator = false;

	for (const char *c = name; *c; c++) {
		size_t operator_ = operator_length(name, c);

		if (operator_) {
			if (!depth) {
				put(out, c, operator_);
				after_operator = true;
			}
			c += operator_ - 1;
		} else if (strncmp(c, ANONYMOUS, sizeof(ANONYMOUS) - 1) == 0) {
			if (!depth)
				put(out, "(anon)", 6);
			c += sizeof(ANONYMOUS) - 2;
		} else if (depth && strncmp(c, "->", 2) == 0) {
			c++; /* the ">" of "fn(A) -> B" closes nothing */
		} else if (*c == '<' || *c == '(') {
			if (!depth++ && *c == '<')
				turbofish_cut(out, start);
		} else if (*c == '>' || *c == ')') {
			depth -= depth ? 1 : 0;
			if (!depth && *c == ')' && c[1] == ' ')
				return; /* " const", " [clone .cold]" */
		} else if (!depth && *c == ' ' && !after_operator) {
			out->used = start; /* what came before was the return type */
			out->bytes[start] = '\0';
		} else if (!depth && *c != ' ') {
			put(out, c, 1);
		}
	}
}

/*
 * Cuts "Type as Trait" and "dyn Trait + Others" after the first part. Brackets inside of the type
 * are skipped.
 */
static void trait_cut(char *type)
{
	size_t depth = 0;

	for (char *c = type; *c; c++) {
		if (*c == '<')
			depth++;
		else if (*c == '>' && depth)
			depth--;
		else if (!depth && (strncmp(c, " as ", 4) == 0 || strncmp(c, " + ", 3) == 0))
			*c = '\0';
		if (!*c)
			return;
	}
}

/* The end of the bracket with which a name begins; NULL: it is not closed. */
static const char *bracket_end(const char *name)
{
	size_t depth = 0;

	for (const char *c = name; *c; c++) {
		if (*c == '<')
			depth++;
		else if (*c == '>' && (c == name || c[-1] != '-') && !--depth)
			return c;
	}
	return NULL;
}

/* Rust's <Type as Trait>::method becomes Type::method. */
static bool method_put(struct output *out, const char *name, unsigned int nested)
{
	const char *close = bracket_end(name);
	char type[1024];

	if (!close || strncmp(close, ">::", 3) != 0 || nested == NESTED_TYPES ||
		(size_t)(close - name) > sizeof(type))
		return false;
	memcpy(type, name + 1, (size_t)(close - name - 1));
	type[close - name - 1] = '\0';
	trait_cut(type);
	if (type[0] != '<')
		plain_put(out, type);
	else if (!method_put(out, type, nested + 1))
		return false;
	put(out, "::", 2);
	plain_put(out, close + 3);
	return true;
}

size_t ap_short_name(char *out, size_t room, const char *name)
{
	struct output output = {out, 0, room};
	bool done = false;

	out[0] = '\0';
	if (name[0] == '<') {
		done = method_put(&output, name, 0);
	} else if (name[0] != '[' && strpbrk(name, "<(")) {
		plain_put(&output, name);
		done = output.used > 0;
	}
	if (!done) {
		output.used = 0;
		put(&output, name, strlen(name));
	}
	return output.used;
}
