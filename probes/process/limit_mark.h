/* A mark that a process hands on to all it starts, whatever they throw away. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROCESS_LIMIT_MARK_H
#define AUTOFIT_PROBES_PROCESS_LIMIT_MARK_H

#include <stdbool.h>

/*
 * A descendant of a probe can clear its environment, begin a session and close
 * its descriptors. Its limits stay: they pass through fork and exec, only a
 * privileged process can raise a hard one, and /proc/PID/limits shows them. So
 * a number made of the probe's mark becomes the limit of RLIMIT_RTTIME, the
 * microseconds a real-time process may compute without a pause. Such numbers
 * are tens of thousands of years, which limit nothing.
 */

/*
 * Mark this process. A limit that is there already is not changed: then the
 * process has no mark. Async-signal-safe.
 */
void limit_mark_set(const char *mark);

/* Has the process whose /proc folder folder_fd is this mark? */
bool limit_mark_is_at(int folder_fd, const char *mark);

#endif
