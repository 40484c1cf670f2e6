/* What launchers tell of the processes that they started. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure_told.h"

#include "probes/output/failure_words.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(*(table)))
#define RULE_MIN 10 /* of a line drawn with one character */
#define DIGITS_MAX 9
#define NOTE_WORDS_MAX 300
#define PYTHON_FAILED 1
#define ODD INT_MAX /* an end without an exit code: a signal, in words */

/* The number behind the words, if they are there and it is. */
static bool number_after(struct span line, const char *words, int *number)
{
	const char *at = span_find(line, words);
	const char *end = span_end(line);
	bool negative = false;
	int value = 0;
	int digits = 0;

	if (!at)
		return false;
	at += strlen(words);
	if (at < end && *at == '-') {
		negative = true;
		at++;
	}
	for (; at < end && isdigit((unsigned char)*at); at++) {
		if (++digits > DIGITS_MAX)
			return false;
		value = value * 10 + (*at - '0');
	}
	*number = negative ? -value : value;
	return digits > 0;
}

/* A line of one character: what torchrun and mpirun put around theirs. */
static bool is_rule(struct span line)
{
	if (line.length < RULE_MIN || !strchr("=-*", line.at[0]))
		return false;
	for (size_t i = 1; i < line.length; i++)
		if (line.at[i] != line.at[0])
			return false;
	return true;
}

/* Ends that the launcher itself made are no news. */
static bool is_its_own(int code)
{
	return code == 0 || code == -SIGTERM || code == 128 + SIGTERM;
}

static void count_rank(struct failure_told *told, int rank)
{
	if (told->ranks == 0)
		told->rank = rank;
	if (told->ranks == 0 || (rank >= 0 && rank != told->rank))
		told->ranks++;
}

/* Rank -1: not known. code ODD: the words say it. */
static void note(struct failure_told *told, int rank, int code,
		 struct span words)
{
	bool is_odd = code != PYTHON_FAILED;
	char kept[FAILURE_LINE_MAX];

	if (is_its_own(code))
		return;
	count_rank(told, rank);
	if (told->note[0] && (told->note_is_odd || !is_odd))
		return;
	told->note_is_odd = is_odd;
	told->note_rank = rank;
	failure_words_keep(kept, words);
	if (rank >= 0)
		(void)snprintf(told->note, sizeof(told->note), "rank %d: %.*s",
			       rank, NOTE_WORDS_MAX, kept);
	else
		(void)snprintf(told->note, sizeof(told->note), "%.*s",
			       NOTE_WORDS_MAX, kept);
}

static void note_code(struct failure_told *told, int rank, int code)
{
	char words[32];
	int length = snprintf(words, sizeof(words), "exit code %d", code);

	note(told, rank, code, (struct span){ words, (size_t)length });
}

/* Is the note of the entry under way? Its code then. */
static bool note_is_of(const struct failure_told *told, int *code)
{
	struct span text = { told->note, strlen(told->note) };

	return told->note_rank == told->entry_rank &&
	       number_after(text, "exit code ", code);
}

/* One line of an entry of torchrun's block. */
static bool torchrun_entry(struct failure_told *told, struct span line)
{
	static const char *const others[] = { "time      : ", "host      : ",
					      "error_file: " };
	const char *signal;
	int code;

	for (size_t i = 0; i < COUNT(others); i++)
		if (failure_words_begin(line, others[i]))
			return true;
	if (failure_words_begin(line, "rank      : "))
		return number_after(line, "rank      : ", &told->entry_rank);
	if (failure_words_begin(line, "exitcode  : ")) {
		(void)number_after(line, "exitcode  : ", &told->entry_code);
		note_code(told, told->entry_rank, told->entry_code);
		return true;
	}
	if (!failure_words_begin(line, "traceback : "))
		return false;
	signal = span_find(line, "Signal ");
	/* Of the entry that the note is of: in more words than a number. */
	if (signal && note_is_of(told, &code) && code == told->entry_code) {
		told->note[0] = '\0';
		told->note_is_odd = false;
		note(told, told->entry_rank, code,
		     span_from(signal, span_end(line)));
	}
	return true;
}

static bool is_torchrun_log(struct span line)
{
	struct span start = line;

	if (start.length > 160)
		start.length = 160;
	if (failure_words_begin(line, "WARNING:torch.distributed.") ||
	    failure_words_begin(line, "ERROR:torch.distributed.elastic.") ||
	    failure_words_begin(line, "INFO:torch.distributed.elastic.") ||
	    failure_words_begin(line,
				"Setting OMP_NUM_THREADS environment variable"))
		return true;
	if (line.length > 5 && strchr("WEI", line.at[0]) &&
	    isdigit((unsigned char)line.at[1]) &&
	    isdigit((unsigned char)line.at[4]))
		return span_find(start, "torch/distributed/run.py:") ||
		       span_find(start, "torch/distributed/elastic/") ||
		       span_find(start, "torch/distributed/launcher/") ||
		       span_find(start, "torch/multiprocessing/spawn.py:");
	return line.at[0] == '[' &&
	       (span_find(start, "] torch.distributed.elastic.") ||
		span_find(start, "] torch.distributed.run: "));
}

static bool torchrun(struct failure_told *told, struct span line)
{
	static const char *const lines[] = {
		"Failures:",
		"<NO_OTHER_FAILURES>",
		"Root Cause (first observed failure):",
	};
	int number;

	for (size_t i = 0; i < COUNT(lines); i++)
		if (span_is(line, lines[i]))
			return true;
	if (line.at[0] == '[' && span_ends(line, "]:") &&
	    number_after(line, "[", &number))
		return true;
	if (torchrun_entry(told, line))
		return true;
	return is_torchrun_log(line);
}

static bool deepspeed(struct failure_told *told, struct span line)
{
	const char *words = span_find(line, "exits with return code = ");
	int rank = -1;
	int code;

	if (line.at[0] != '[' || !(span_find(line, "] [launch.py:") ||
				   span_find(line, "] [runner.py:")))
		return false;
	if (words && number_after(line, "exits with return code = ", &code)) {
		(void)number_after(line, "'--local_rank=", &rank);
		note(told, rank, code, span_from(words, span_end(line)));
	}
	return true;
}

/* "srun: error: node3: task 1: Exited with exit code 1" */
static bool slurm(struct failure_told *told, struct span line)
{
	static const char *const chatter[] = {
		"srun: Job step aborted",
		"srun: Terminating",
		"srun: Force Terminated",
		"srun: First task exited",
		"srun: launch/slurm: ",
		"slurmstepd: error: *** ",
		"srun: step:",
		"srun: got SIGCONT",
	};
	const char *task;
	struct span words;
	int rank = -1;
	int code = ODD;

	for (size_t i = 0; i < COUNT(chatter); i++)
		if (failure_words_begin(line, chatter[i]))
			return true;
	if (!failure_words_begin(line, "srun: error: "))
		return false;
	task = span_find(line, ": task");
	words = task ? span_from(task, span_end(line)) : line;
	words = task ? span_cut_part(&words) : words;
	if (!task)
		return false;
	(void)number_after(line, ": task ", &rank);
	(void)number_after(words, "Exited with exit code ", &code);
	if (!span_is(words, "Terminated"))
		note(told, rank, code, words);
	return true;
}

static bool mpirun(struct failure_told *told, struct span line)
{
	static const char *const chatter[] = {
		"Primary job  terminated normally",
		"a non-zero exit code",
		"mpirun detected that one or more",
		"mpiexec detected that one or more",
		"prterun detected that one or more",
		"thus causing",
		"the job to be terminated.",
		"causing the job to be terminated.",
	};
	static const char signal_words[] = "exited on signal ";
	const char *words;
	int number;

	for (size_t i = 0; i < COUNT(chatter); i++)
		if (failure_words_begin(line, chatter[i]))
			return true;
	if (failure_words_begin(line, "Process name: [")) {
		(void)number_after(line, "],", &told->entry_rank);
		return true;
	}
	if (failure_words_begin(line, "Exit code: ")) {
		line = span_trimmed(span_from(line.at + strlen("Exit code: "),
					      span_end(line)));
		if (number_after(line, "", &number))
			note_code(told, told->entry_rank, number);
		return true;
	}
	if ((line.at[0] != 'm' && line.at[0] != 'p') ||
	    !number_after(line, " noticed that process rank ", &number))
		return false;
	words = span_find(line, signal_words);
	if (words)
		note(told, number, ODD, span_from(words, span_end(line)));
	return true;
}

static bool horovod(struct failure_told *told, struct span line)
{
	int rank;
	int code;

	if (failure_words_begin(line, "Terminating remaining workers"))
		return true;
	if (!failure_words_begin(line, "Process ") ||
	    !number_after(line, "Process ", &rank) ||
	    !number_after(line, " exit with status code ", &code))
		return false;
	note_code(told, rank, code);
	return true;
}

static bool lightning(struct failure_told *told, struct span line)
{
	int rank = -1;
	int code;

	if (!failure_words_begin(line, "[rank: ") ||
	    !span_find(line, "Child process with PID ") ||
	    !number_after(line, " terminated with code ", &code))
		return false;
	(void)number_after(line, "[rank: ", &rank);
	note_code(told, rank, code);
	return true;
}

static bool others(struct span line)
{
	static const char *const starts[] = {
		"ERROR conda.cli.main_run:execute(",
		"make: *** [",
		"command terminated with exit code ",
		"Command exited with non-zero status ",
	};

	for (size_t i = 0; i < COUNT(starts); i++)
		if (failure_words_begin(line, starts[i]))
			return true;
	return false;
}

static bool is_worth_keeping(struct span line)
{
	return !is_rule(line) && line.length > 24 &&
	       (span_find(line, "failed") || span_find(line, "exit") ||
		span_find(line, "task") || span_find(line, "Error "));
}

bool failure_told_line(struct failure_told *told, struct span line)
{
	bool is_told;

	line = span_trimmed(line);
	if (!line.length)
		return false;
	is_told = (told->after_rule && span_ends(line, " FAILED")) ||
		  is_rule(line) || torchrun(told, line) ||
		  deepspeed(told, line) || slurm(told, line) ||
		  mpirun(told, line) || horovod(told, line) ||
		  lightning(told, line) || others(line);
	told->after_rule = is_rule(line) && line.at[0] == '=';
	if (is_told && !told->line[0] && is_worth_keeping(line))
		failure_words_keep(told->line, line);
	return is_told;
}

void failure_told_exception(struct failure_told *told, struct span exception)
{
	int rank;

	if (number_after(exception, "ProcessExitedException: process ", &rank))
		count_rank(told, rank);
}
