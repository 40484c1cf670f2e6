/* What befalls a simulated device: nothing, but in tests. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"

#include "probes/phantom/device/sim_state.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* NULL in the product. */
static const struct sim_events *events_of_test(void)
{
	return &sim_test_events;
}

const char *sim_fault_next(const char *key, const char **place)
{
	const struct sim_events *events = events_of_test();

	return events ? events->next(key, place) : NULL;
}

bool sim_fault(const char *word)
{
	const char *place = NULL;
	const char *rest = sim_fault_next(word, &place);

	while (rest && *rest != '\0' && *rest != ',')
		rest = sim_fault_next(word, &place);
	return rest != NULL;
}

bool sim_fault_number(const char *key, uint64_t *number)
{
	const char *place = NULL;
	const char *rest = sim_fault_next(key, &place);

	if (!rest)
		return false;
	*number = sim_size(rest, NULL);
	return true;
}

void sim_delay(const char *key)
{
	struct timespec pause = { 0, 0 };
	uint64_t ms = 0;

	if (!sim_fault_number(key, &ms))
		return;
	pause.tv_sec = (time_t)(ms / 1000);
	pause.tv_nsec = (long)(ms % 1000) * 1000000;
	(void)nanosleep(&pause, NULL);
}

void sim_hang(void)
{
	if (events_of_test())
		sim_test_events.hang();
	for (;;)
		(void)pause();
}

void sim_event_start(void)
{
	if (events_of_test())
		sim_test_events.start();
}

bool sim_event_is_ours(void)
{
	return !events_of_test() || sim_test_events.is_ours();
}

int sim_event_allocation(uint32_t device, uint64_t bytes)
{
	return events_of_test() ? sim_test_events.allocation(device, bytes) : 0;
}

int sim_event_launch(void)
{
	return events_of_test() ? sim_test_events.launch() : 0;
}

int sim_event_host(void)
{
	return events_of_test() ? sim_test_events.host() : 0;
}

int sim_event_module(void)
{
	return events_of_test() ? sim_test_events.module() : 0;
}

int sim_event_context(void)
{
	return events_of_test() ? sim_test_events.context() : 0;
}

int sim_event_wait(void)
{
	return events_of_test() ? sim_test_events.wait() : 0;
}

void sim_event_delay(void)
{
	if (events_of_test())
		sim_test_events.delay();
}
