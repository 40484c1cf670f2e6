/* System calls past glibc's wrappers: other preloads may have their own. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_RAW_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_RAW_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* They set errno; whoever calls them keeps it. */

static inline int raw_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

static inline void raw_close(int fd)
{
	(void)syscall(SYS_close, fd);
}

static inline long raw_read(int fd, void *data, size_t size)
{
	return syscall(SYS_read, fd, data, size);
}

/* The size of a file, or -1. fstat() is a new symbol of glibc 2.33. */
static inline long raw_size(int fd)
{
	struct stat status;

	if (syscall(SYS_fstat, fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	return (long)status.st_size;
}

/* A descriptor's file, shared; -1: zeroed memory of this process. NULL. */
static inline void *raw_map(int fd, size_t size)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	long address = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
			       flags, fd, 0L);

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): so the kernel answers */
	return address == -1 ? NULL : (void *)address;
}

static inline void raw_unmap(void *address, size_t size)
{
	(void)syscall(SYS_munmap, address, size);
}

/* CLOCK_MONOTONIC. */
static inline unsigned long raw_now_ns(void)
{
	struct timespec now = { 0, 0 };

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000000000UL +
	       (unsigned long)now.tv_nsec;
}

#endif
