/* The page as this process opens it: its slot, its devices, its counters. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"

#include "probes/preload/ledger/ledger_self.h"
#include "probes/preload/ledger/raw.h"
#include "probes/preload/ledger/table.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define FILE_SIZE (PRELOAD_PAGE_OFFSET + sizeof(struct preload_page))

enum open_state {
	CLOSED,
	OPEN,
	CANNOT, /* no page, switched off, no slot: for good */
};

struct ledger_self ledger_self;

static struct {
	uint32_t state;  /* enum open_state */
	uint32_t opener; /* pid of who is opening it just now */
	uint32_t pid;    /* of who opened it */
} opened;

static uint32_t own_pid(void)
{
	/* Older versions of getpid() answer from a cache. */
	return (uint32_t)syscall(SYS_getpid);
}

void ledger_forget_parent(void)
{
	ledger_self.slot = NULL;
	ledger_forget_call();
	ledger_forget_refusals();
	table_forget_all();
	__atomic_store_n(&opened.state, CLOSED, __ATOMIC_SEQ_CST);
}

static bool is_page(const struct preload_page *page)
{
	const struct preload_header *header = &page->header;

	return header->magic == PRELOAD_MAGIC &&
	       header->version == PRELOAD_VERSION &&
	       header->slots == PRELOAD_SLOTS && header->size == sizeof(*page);
}

/* The whole file: a page of memory may be larger than where ours begins. */
static struct preload_page *map_file(int fd)
{
	struct preload_page *page;
	char *file;

	if (raw_size(fd) < (long)FILE_SIZE)
		return NULL;
	file = raw_map(fd, FILE_SIZE);
	if (!file)
		return NULL;
	page = (struct preload_page *)(void *)(file + PRELOAD_PAGE_OFFSET);
	if (is_page(page))
		return page;
	raw_unmap(file, FILE_SIZE);
	return NULL;
}

/* Not getenv: shells bring their own, for other places than environ. */
static const char *environment(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; entry && *entry; entry++) {
		if (strncmp(*entry, name, length) == 0 &&
		    (*entry)[length] == '=')
			return *entry + length + 1;
	}
	return NULL;
}

/* A number of the environment, below 10^6; -1: none. */
static int ledger_number_of(const char *text)
{
	int number = 0;

	if (!text || !*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || number >= 100000)
			return -1;
		number = number * 10 + (*text - '0');
	}
	return number;
}

static struct preload_page *map_page(void)
{
	const char *hook = environment(PRELOAD_SWITCH_VARIABLE);
	const char *path = environment(PRELOAD_PATH_VARIABLE);
	struct preload_page *page = NULL;
	int fd = -1;

	if (hook && hook[0] == '0' && !hook[1])
		return NULL;
	if (path && *path)
		fd = raw_open(path, O_RDWR);
	if (fd >= 0) {
		page = map_file(fd);
		raw_close(fd);
	}
	if (page)
		return page;
	/* It stays open: it is the program's for its own children. */
	fd = ledger_number_of(environment(PRELOAD_FD_VARIABLE));
	return fd >= 0 ? map_file(fd) : NULL;
}

static int own_rank(void)
{
	static const char *const names[] = {
		"RANK",
		"OMPI_COMM_WORLD_RANK",
		"MV2_COMM_WORLD_RANK",
		"PMIX_RANK",
		"PMI_RANK",
		"FLUX_TASK_RANK",
		"SLURM_PROCID",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int rank = ledger_number_of(environment(names[i]));

		if (rank >= 0)
			return rank;
	}
	return -1;
}

/* Where it was before an exec: what it held then went with its image. */
static struct preload_slot *own_slot(struct preload_page *page)
{
	for (uint32_t i = 0; i < ledger_slot_count(page); i++) {
		struct preload_slot *slot = &page->slots[i];

		if (__atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE) !=
			    ledger_self.id.pid ||
		    slot->start_time != ledger_self.id.start_time)
			continue;
		(void)ledger_take_out(slot);
		if (__atomic_exchange_n(&slot->busy, 0, __ATOMIC_SEQ_CST))
			(void)ledger_repair(0);
		return slot;
	}
	return NULL;
}

/*
 * start_time is the lock of a free slot, whatever it is; pid makes it one that
 * others see.
 */
static bool claim_free(struct preload_slot *slot)
{
	uint64_t nobody = 0;

	return !__atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE) &&
	       __atomic_compare_exchange_n(&slot->start_time, &nobody,
					   ledger_self.id.start_time | 1, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* pid 0 with a start_time: whoever took it out of there has it alone. */
static bool claim_dead(struct preload_slot *slot)
{
	uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);

	if (!pid || !process_is_dead(pid, slot->start_time) ||
	    !__atomic_compare_exchange_n(&slot->pid, &pid, 0, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	(void)ledger_take_out(slot);
	if (slot->busy)
		(void)ledger_repair(0);
	return true;
}

typedef bool claim_fn(struct preload_slot *slot);

/* The slot is this process's alone, and nobody sees it yet. */
static struct preload_slot *new_slot(struct preload_page *page, claim_fn *claim)
{
	struct preload_slot *slot;
	uint32_t i = 0;

	while (i < PRELOAD_SLOTS && !claim(&page->slots[i]))
		i++;
	if (i == PRELOAD_SLOTS)
		return NULL;
	slot = &page->slots[i];
	memset(&slot->rank, 0,
	       sizeof(*slot) - offsetof(struct preload_slot, rank));
	slot->flags = 0;
	slot->start_time = ledger_self.id.start_time;
	return slot;
}

static bool claim_slot(struct preload_page *page)
{
	struct preload_slot *slot = own_slot(page);
	uint32_t used = 0;
	uint32_t count;

	if (!slot)
		slot = new_slot(page, claim_free);
	if (!slot)
		slot = new_slot(page, claim_dead);
	if (!slot)
		return false;
	slot->rank = own_rank();
	count = (uint32_t)(slot - page->slots) + 1;
	while (used < count &&
	       !__atomic_compare_exchange_n(&page->header.slots_used, &used,
					    count, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
	__atomic_store_n(&slot->pid, ledger_self.id.pid, __ATOMIC_RELEASE);
	ledger_self.slot = slot;
	return true;
}

/* Its bytes are counted nowhere: somebody must say so. */
static void tell_crowded(struct preload_page *page)
{
	(void)__atomic_or_fetch(&page->slots[PRELOAD_SLOTS - 1].flags,
				PRELOAD_CROWDED, __ATOMIC_SEQ_CST);
}

static bool ledger_open_page(void)
{
	if (!ledger_self.page)
		ledger_self.page = map_page();
	if (!ledger_self.page)
		return false;
	process_self(&ledger_self.id);
	if (!claim_slot(ledger_self.page)) {
		tell_crowded(ledger_self.page);
		return false;
	}
	return true;
}

/*
 * One thread opens, the others wait for it; not for one that was left behind
 * in the parent.
 */
static bool become_opener(uint32_t pid)
{
	for (;;) {
		uint32_t opener =
			__atomic_load_n(&opened.opener, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&opened.state, __ATOMIC_ACQUIRE) != CLOSED)
			return false;
		if (opener == pid) {
			(void)sched_yield();
			continue;
		}
		if (__atomic_compare_exchange_n(&opened.opener, &opener, pid,
						false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	}
}

bool ledger_open(void)
{
	uint32_t pid = own_pid();
	int saved = errno;

	if (__atomic_load_n(&opened.state, __ATOMIC_ACQUIRE) == OPEN &&
	    opened.pid != pid)
		ledger_forget_parent();
	if (become_opener(pid)) {
		uint32_t state = CANNOT;

		/* Another thread may have been here and be gone already. */
		if (__atomic_load_n(&opened.state, __ATOMIC_SEQ_CST) == OPEN ||
		    ledger_open_page())
			state = OPEN;
		opened.pid = pid;
		__atomic_store_n(&opened.state, state, __ATOMIC_SEQ_CST);
		__atomic_store_n(&opened.opener, 0, __ATOMIC_SEQ_CST);
	}
	errno = saved;
	return __atomic_load_n(&opened.state, __ATOMIC_ACQUIRE) == OPEN;
}
