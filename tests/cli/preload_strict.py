#!/usr/bin/env python3
# What the preload library asks of a driver on its own harms no program: not a
# capture of a graph, not a pool that goes, not threads that wait for others.
# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "helpers"))

import lib  # noqa: E402
import preload_page as pages  # noqa: E402
from lib import MIB, check, equal  # noqa: E402

# A driver that notices what real ones answer with an error or a crash. A
# pointer is 1000 times its pool, and some.
DRIVER = r"""
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define POOL(number) ((void *)((number) * (size_t)4096))
#define NUMBER(pool) ((int)((size_t)(pool) / 4096))
typedef unsigned long long pointer;
atomic_int capturing, spoiled, dead_asked, late, destroying, launched;
atomic_int blocks, asking, is_dead[4];
atomic_int synced;
atomic_int questions; /* what a program has no need to ask of it */
static _Thread_local unsigned mode; /* 0 global, 2 relaxed */

/* For a condition, in milliseconds at most. */
int await(atomic_int *what, int most)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		if (*what)
			return 1;
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 +
		 (now.tv_nsec - begin.tv_nsec) / 1000000 < most);
	return *what;
}

/* What is refused while a graph is captured, and spoils it. */
static int is_unsafe(void)
{
	if (!capturing || mode == 2)
		return 0;
	spoiled++;
	return 900;
}

unsigned strict_mode(void) { return mode; }
int cuInit(unsigned flags) { return flags != 0; }
int cuCtxGetCurrent(void **context)
{
	questions++;
	*context = &capturing;
	return 0;
}
int cuCtxGetDevice(int *device)
{
	questions++;
	*device = 0;
	return 0;
}
int cuDeviceGetUuid_v2(char *uuid, int device)
{
	memset(uuid, device + 1, 16);
	return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = (size_t)8 << 30;
	return device;
}
int cuThreadExchangeStreamCaptureMode(unsigned *other)
{
	unsigned before = mode;

	questions++;
	mode = *other;
	*other = before;
	return 0;
}
int cuStreamBeginCapture_v2(void *stream, unsigned other)
{
	capturing = 1;
	return !stream || other;
}
/* Of a driver that is newer than the library's table. */
int cuStreamBeginCaptureOfTomorrow(void *stream, unsigned other, void *graph,
				   void *callback, void *data)
{
	(void)graph, (void)callback, (void)data;
	return cuStreamBeginCapture_v2(stream, other);
}
int cuStreamIsCapturing(void *stream, unsigned *status)
{
	questions++;
	*status = capturing && stream;
	return 0;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	questions++;
	*free_bytes = (size_t)4 << 30;
	*total = (size_t)8 << 30;
	return is_unsafe();
}
int cuMemAlloc_v2(pointer *address, size_t bytes)
{
	(void)address;
	return bytes ? 2 : 1;
}
int cuMemAllocFromPoolAsync(pointer *address, size_t bytes, void *pool,
			    void *stream)
{
	(void)stream;
	*address = (size_t)pool * 1000 + bytes % 7;
	return 0;
}
int cuMemAllocAsync(pointer *address, size_t bytes, void *stream)
{
	return cuMemAllocFromPoolAsync(address, bytes, POOL(1), stream);
}
int cuMemFreeAsync(pointer address, void *stream)
{
	(void)stream;
	return !address;
}
int cuPointerGetAttribute(void *value, int attribute, pointer address)
{
	questions++;
	if (attribute == 17)
		*(void **)value = (void *)(size_t)(address / 1000);
	else
		*(int *)value = 0;
	return 0;
}
int cuDeviceGetMemPool(void **pool, int device)
{
	questions++;
	*pool = POOL(1);
	return device;
}
int cuMemPoolGetAttribute(void *pool, int attribute, void *value)
{
	questions++;
	(void)attribute;
	asking = 1;
	if (is_dead[NUMBER(pool)])
		dead_asked++;
	if (blocks == NUMBER(pool) && !await(&launched, 5000))
		late++;
	/* One that is destroyed now is gone from under this question. */
	if (blocks == -NUMBER(pool)) {
		await(&is_dead[NUMBER(pool)], 300);
		dead_asked += is_dead[NUMBER(pool)];
	}
	*(unsigned long long *)value = 32 << 20;
	return is_unsafe();
}
int cuMemPoolTrimTo(void *pool, size_t keep)
{
	(void)pool;
	(void)keep;
	return is_unsafe();
}
int cuMemPoolDestroy(void *pool)
{
	is_dead[NUMBER(pool)] = 1;
	destroying = 1;
	if (!blocks && !await(&synced, 5000))
		late++;
	return 0;
}
int cuStreamSynchronize(void *stream) { (void)stream; return 0; }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d,
		   unsigned e, unsigned g, unsigned shared, void *stream,
		   void **parameters, void **extra)
{
	(void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g;
	(void)shared, (void)stream, (void)parameters, (void)extra;
	launched = 1;
	return 0;
}
"""

# A disk that takes its time; the library has no other way to open a file.
SLOW = r"""
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long values[6];
	va_list list;
	int i;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (i = 0; i < 6; i++)
		values[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat)
		nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
	return real(number, values[0], values[1], values[2], values[3],
		    values[4], values[5]);
}
"""

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define POOL(number) ((void *)((number) * (size_t)4096))
#define PAIRS 100
typedef unsigned long long pointer;
extern atomic_int capturing, spoiled, dead_asked, late, destroying, launched;
extern atomic_int blocks, asking, synced, questions;
int await(atomic_int *what, int most);
unsigned strict_mode(void);
int cuMemAlloc_v2(pointer *, size_t);
int cuMemAllocAsync(pointer *, size_t, void *);
int cuMemAllocFromPoolAsync(pointer *, size_t, void *, void *);
int cuMemFreeAsync(pointer, void *);
int cuMemPoolDestroy(void *);
int cuStreamBeginCapture_v2(void *, unsigned);
int cuStreamSynchronize(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
		   unsigned, unsigned, void *, void **, void **);

static void *stream = &stream;

static void *synchronize(void *first)
{
	if (first && !await(first, 5000))
		late++;
	cuStreamSynchronize(NULL);
	synced = 1;
	return NULL;
}

static void begin_capture(const char *by)
{
	int (*again)(void *, unsigned, void *, void *, void *);

	if (!by)
		cuStreamBeginCapture_v2(stream, 0);
	else if ((again = dlsym(RTLD_DEFAULT, by)))
		again(stream, 0, NULL, NULL, NULL);
}

/* One thread captures, another one waits for its own stream. */
static void capture(const char *by)
{
	pointer address;
	pthread_t other;

	cuMemAllocAsync(&address, 5, stream);
	begin_capture(by);
	cuMemFreeAsync(address, stream);
	cuMemAllocAsync(&address, 5, stream);
	cuMemAllocAsync(&address, 6, NULL);
	cuMemAlloc_v2(&address, 1 << 20);
	pthread_create(&other, NULL, synchronize, NULL);
	pthread_join(other, NULL);
	capturing = 0;
}

/* While it goes, another thread waits for its stream. */
static void destroy(void)
{
	pthread_t other;

	pthread_create(&other, NULL, synchronize, &destroying);
	cuMemPoolDestroy(POOL(2));
	pthread_join(other, NULL);
}

/* It is to go while another thread's question is under way. */
static void destroy_later(void)
{
	pthread_t other;

	asking = 0;
	blocks = -2;
	pthread_create(&other, NULL, synchronize, NULL);
	await(&asking, 5000);
	cuMemPoolDestroy(POOL(2));
	pthread_join(other, NULL);
}

/* A question waits for work that this thread has yet to launch. */
static void wait_for_launch(void)
{
	pointer address;
	pthread_t other;

	asking = 0;
	blocks = 2;
	pthread_create(&other, NULL, synchronize, NULL);
	await(&asking, 5000);
	cuMemAllocFromPoolAsync(&address, 5, POOL(1), NULL);
	cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	pthread_join(other, NULL);
}

static void *allocate(void *pool)
{
	pointer address;

	cuMemAllocFromPoolAsync(&address, 5, pool, NULL);
	return NULL;
}

/* Both are first, and the page is slow to open. */
static void allocate_two(void)
{
	pthread_t threads[2];

	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, allocate, POOL(i + 1));
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Pairs of a pool that is known, each of which may have made it grow. */
static int count_questions(void)
{
	pointer address;

	for (int i = 0; i < PAIRS + 1; i++) {
		if (i == 1)
			questions = 0;
		cuMemAllocAsync(&address, 5, NULL);
		cuMemFreeAsync(address, NULL);
	}
	return questions;
}

int main(int argc, char **argv)
{
	pointer address;

	if (argc < 2)
		return 9;
	if (!strcmp(argv[1], "slow")) {
		allocate_two();
		return 0;
	}
	if (!strcmp(argv[1], "questions")) {
		printf("%d\n", count_questions());
		return 0;
	}
	cuMemAllocFromPoolAsync(&address, 5, POOL(1), NULL);
	cuMemAllocFromPoolAsync(&address, 5, POOL(2), NULL);
	if (!strcmp(argv[1], "capture"))
		capture(NULL);
	else if (!strcmp(argv[1], "recapture"))
		capture("cuStreamBeginCaptureOfTomorrow");
	else if (!strcmp(argv[1], "destroy"))
		destroy();
	else if (!strcmp(argv[1], "destroy-later"))
		destroy_later();
	else
		wait_for_launch();
	printf("spoiled %d, dead asked %d, late %d, mode %u\n", spoiled,
	       dead_asked, late, strict_mode());
	return 0;
}
"""


PAIRS = 100  # as in PROGRAM


def build(place):
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler):
        print("1..0 # SKIP there is no compiler")
        sys.exit(77)
    folder = place.path("strict")
    os.mkdir(folder)
    for name, text, options in (
            ("libcuda.so.1", DRIVER,
             ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1",
              "-Wl,-Bsymbolic"]),
            ("slow.so", SLOW, ["-shared", "-fPIC", "-ldl"]),
            ("program", PROGRAM,
             # -fPIC: no copies of the driver's variables.
             ["-fPIC", os.path.join(folder, "libcuda.so.1"),
              "-Wl,-rpath," + folder])):
        source = os.path.join(folder, name + ".c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([compiler, "-D_GNU_SOURCE", "-O1", "-o",
                        os.path.join(folder, name), source, *options,
                        "-lpthread"], check=True)
    return os.path.join(folder, "program")


def run(place, program, word, cap, libraries=pages.PRELOAD):
    page = pages.empty_page([(cap, 0)] if cap else ())
    if cap:
        page.devices[0].uuid[:] = bytes([1] * 16)
    path = place.path("page-%s-%d" % (word, cap))
    pages.write_page(path, page)
    env = dict(os.environ, LD_PRELOAD=libraries, AUTOFIT_CHANNEL=path)
    done = subprocess.run([program, word], env=env, capture_output=True,
                          text=True, timeout=pages.PATIENCE, check=False)
    return pages.Run(done, pages.read_page(path))


def main():
    with lib.Place("preload-strict") as place:
        program = build(place)
        for word, pools in (("capture", 2), ("recapture", 2), ("destroy", 1),
                            ("destroy-later", 1), ("launch", 2)):
            for cap in (0, 6 << 30):
                done = run(place, program, word, cap)
                title = "%s, %s" % (word, "a cap" if cap else "no cap")
                equal(title + ": the driver has no complaint",
                      (done.status, done.out, done.err),
                      (0, "spoiled 0, dead asked 0, late 0, mode 0\n", ""))
                devices = done.page.known_devices()
                check(title + ": what the pools hold is counted",
                      len(devices) == 1 and devices[0].current_bytes ==
                      pools * 32 * MIB and devices[0].peak_bytes ==
                      2 * 32 * MIB, done)
        done = run(place, program, "questions", 0)
        check("a pair of a pool's costs at most three calls of the driver",
              done.status == 0 and 0 < int(done.out) <= 3 * PAIRS, done)
        done = run(place, program, "slow", 0, "%s %s" % (
            pages.PRELOAD, os.path.join(os.path.dirname(program), "slow.so")))
        equal("a page that opens slowly: both threads are counted",
              (done.status, [s.allocations for s in done.page.known_slots()],
               done.page.devices[0].current_bytes), (0, [2], 2 * 32 * MIB))
    lib.finish()


main()
