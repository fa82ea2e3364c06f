/* SPDX-License-Identifier: MIT */
/* Names of C++ (Itanium ABI), Rust (legacy and v0) and D demangled. */
#ifndef ALLOCPROF_DEMANGLE_H
#define ALLOCPROF_DEMANGLE_H

/*
 * The name, which the caller frees; NULL when it is not mangled, cannot be demangled, would become
 * far too long (a few hundred bytes can stand for gigabytes), or out of memory: the caller then
 * uses the name as it is. Parameters are kept, since overloads are different code; the return type
 * of a template and Rust's hash are not.
 */
char *ap_demangle(const char *mangled);

#endif
