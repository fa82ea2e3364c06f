/* SPDX-License-Identifier: MIT */
/* Names of C++ (Itanium ABI), Rust (legacy and v0) and D as people write them. */
#ifndef ALLOCPROF_DEMANGLE_H
#define ALLOCPROF_DEMANGLE_H

/*
 * The name, which the caller frees; NULL when it is not mangled, cannot be demangled or is out of
 * proportion (a few hundred bytes can stand for gigabytes), or out of memory: use the name as it
 * is then. Parameters are kept, since overloads are different code; the return type of a template
 * and Rust's hash are not.
 */
char *ap_demangle(const char *mangled);

#endif
