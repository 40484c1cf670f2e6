/* Old versions of what is taken from glibc; included before all else. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_GLIBC_H
#define AUTOFIT_PROBES_PRELOAD_GLIBC_H

/*
 * A program that meets a symbol version its glibc lacks, in whatever library
 * it loads, does not start. So this library wants nothing newer than the first
 * glibc of its processor (2.2.5, 2.17), and nothing that was in libdl,
 * libpthread or librt before 2.34: those are not loaded in every program, and
 * with LD_BIND_NOW one missing function ends it. Instead of dlopen, dlsym,
 * dladdr: loaded.h; of locks: atomics; of clock_gettime, stat: syscall().
 * tests/lint/preload.sh looks.
 */
#if defined(__x86_64__) && defined(__linux__)
__asm__(".symver memcpy,memcpy@GLIBC_2.2.5");
#endif

#endif
