/* One line to stderr, by level. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_LOG_H
#define AUTOFIT_BASE_LOG_H

enum log_level {
	LOG_LEVEL_QUIET,   /* errors only */
	LOG_LEVEL_NORMAL,  /* and warnings */
	LOG_LEVEL_VERBOSE, /* and what is being done */
};

/* The one file-scope variable of the program that changes. */
void log_set_level(enum log_level level);

/* Each prints "autofit: ", the message and a newline in one write. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
