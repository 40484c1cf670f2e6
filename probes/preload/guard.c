/* Whether a call is counted: the kill switch, the page, calls in calls. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"
#include "probes/preload/ledger/raw.h"
#include "probes/preload/real.h"
#include "probes/preload/text.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#	define MADV_WIPEONFORK 18
#endif

#define PAGE_BYTES 4096

/* 5 s */
#define PATIENCE_NS 5000000000UL

enum hooks {
	HOOKS_UNKNOWN,
	HOOKS_ON,
	HOOKS_OFF,
};

/* Not getenv: shells bring their own, for other places than environ. */
static bool is_switched_off(void)
{
	static const char setting[] = PRELOAD_SWITCH_VARIABLE "=0";
	char **entry;

	for (entry = environ; entry && *entry; entry++) {
		if (text_is(*entry, setting))
			return true;
	}
	return false;
}

bool hooks_on(void)
{
	static atomic_int hooks;
	int now = atomic_load_explicit(&hooks, memory_order_relaxed);

	if (now == HOOKS_UNKNOWN) {
		now = is_switched_off() ? HOOKS_OFF : HOOKS_ON;
		atomic_store_explicit(&hooks, now, memory_order_relaxed);
	}
	return now == HOOKS_ON;
}

enum page_state {
	PAGE_UNKNOWN,
	PAGE_OPENING,
	PAGE_OPEN,
	PAGE_NONE,
	PAGE_STATES,
};

/*
 * pid * PAGE_STATES + enum page_state of the process that found it out; in a
 * forked child it must not hold. Where the kernel can (4.14), it lies in
 * memory that is empty in a child; else each call asks for the pid.
 */
typedef _Atomic(uint64_t) page_word;

static void *map_word(void)
{
	void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, PAGE_BYTES, MADV_WIPEONFORK) == 0)
		return memory;
	(void)munmap(memory, PAGE_BYTES);
	return NULL;
}

static uint64_t word_of(enum page_state state)
{
	return (uint64_t)getpid() * PAGE_STATES + state;
}

/*
 * Another thread opens the page. What is passed on meanwhile is never counted,
 * so a slow disk is waited for; not for ever, for that thread may have died.
 */
static bool guard_wait_for(page_word *word)
{
	unsigned long end = raw_now_ns() + PATIENCE_NS;
	uint64_t now;

	do {
		now = atomic_load(word);
		if (now % PAGE_STATES != PAGE_OPENING)
			return now % PAGE_STATES == PAGE_OPEN;
		(void)sched_yield();
	} while (raw_now_ns() < end);
	(void)atomic_compare_exchange_strong(word, &now, word_of(PAGE_NONE));
	return false;
}

static bool guard_open_page(page_word *word, uint64_t seen)
{
	enum page_state state;

	if (!atomic_compare_exchange_strong(word, &seen, word_of(PAGE_OPENING)))
		return guard_wait_for(word);
	ledger_forget_parent();
	state = ledger_open() ? PAGE_OPEN : PAGE_NONE;
	atomic_store(word, word_of(state));
	return state == PAGE_OPEN;
}

static bool page_is_open(void)
{
	static page_word fallback;
	static _Atomic(page_word *) place;
	page_word *word = atomic_load_explicit(&place, memory_order_acquire);
	uint64_t now;

	if (!word) {
		void *memory = map_word();
		page_word *made = memory ? memory : &fallback;

		if (atomic_compare_exchange_strong(&place, &word, made))
			word = made;
		else if (memory)
			(void)munmap(memory, PAGE_BYTES);
	}
	now = atomic_load_explicit(word, memory_order_acquire);
	if (now == 0 ||
	    (word == &fallback && now / PAGE_STATES != (uint64_t)getpid()))
		return guard_open_page(word, now);
	if (now % PAGE_STATES == PAGE_OPENING)
		return guard_wait_for(word);
	return now % PAGE_STATES == PAGE_OPEN;
}

static __thread bool is_inside;

bool call_begin(void)
{
	int saved;

	if (is_inside || !hooks_on())
		return false;
	/* Calls that the driver makes while the page is opened, too. */
	is_inside = true;
	saved = errno;
	is_inside = page_is_open();
	errno = saved;
	return is_inside;
}

void call_end(void)
{
	is_inside = false;
}
