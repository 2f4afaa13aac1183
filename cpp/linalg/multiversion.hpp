// KEYHOLE_MULTIVERSION compiles a function for AVX2 as well and picks the version when the module is loaded, so that one
// wheel runs on every x86-64 processor. Both versions give the same bits: no operation is fused or reordered
// (-ffp-contract=off, no fast-math); only more of them are done at once.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(KEYHOLE_BOUNDS_CHECK)
#define KEYHOLE_MULTIVERSION __attribute__((target_clones("avx2", "default")))
#else
#define KEYHOLE_MULTIVERSION
#endif
