/* What the fields of a record mean, for autofit-records(5). */
/* SPDX-License-Identifier: MIT */
#include "scripts/pages/manpage.h"

#include <string.h>

struct field_text {
	const char *name, *text;
};

static const struct field_text record_texts[] = {
	{ "id", "The record's name: script, device and four hexadecimal "
		"digits. The file is called so, with .ini." },
	{ "subject", "The script or program and the preset: what a record "
		     "that serves as a hint must share." },
	{ "created", "When the tuning ended, in seconds since 1970." },
	{ "autofit_version", "The autofit that wrote it." },
	{ "preset", "The preset that the command was read by." },
	{ "device_kind", "cuda or host." },
	{ "micro_batch", "The recommended samples per forward and backward "
			 "pass of one rank." },
	{ "grad_accum", "The recommended number of such passes per optimizer "
			"step." },
	{ "world_size", "The number of data-parallel ranks." },
	{ "effective_batch", "micro_batch x grad_accum x world_size; another "
			     "product makes the file invalid." },
	{ "effective_batch_asked",
	  "What the command or --effective-batch asked "
	  "for; 0: not known." },
	{ "largest_micro_batch", "The largest safe micro-batch; 0: it was not "
				 "searched." },
	{ "largest_fit", "The largest micro-batch that ran and fitted; 0: "
			 "none." },
	{ "smallest_misfit", "The smallest that did not fit; 0: none." },
	{ "misfit_by",
	  "How that is known: by probe, prediction or limit, or run: "
	  "a real run, see autofit lower." },
	{ "peak_bytes", "The peak of the confirmed split." },
	{ "limit_bytes", "What it had to stay under: budget less headroom." },
	{ "headroom_bytes", "What was to stay free inside the budget." },
	{ "budget_bytes", "The budget of a device, or of the process tree." },
	{ "coverage", "How exactly memory was seen." },
	{ "steps_source", "How steps were counted." },
	{ "confirmed_steps", "Optimizer steps of the confirmation." },
	{ "confirmed_passes", "And its backward passes after the first of "
			      "those, where they counted as steps do." },
	{ "not_exercised", "Something that probes did not run, such as "
			   "saving; one line each." },
	{ "copies", "A config file that the recommended command reads, "
		    "removed with the record; one line each." },
	{ "caveats", "Something to know about the answer; one line each." },
	{ "isolation", "How probes were kept from writing: view, landlock or "
		       "compare." },
	{ "lowered_from", "The micro-batch that ran out of memory in a real "
			  "run later, see autofit lower; 0: none." },
	{ "stamps", "A file that the probes had imported, and a stamp of its "
		    "content; one line each. Where one differs, the record is "
		    "checked by a probe before it is used." },
	{ "own_micro_batch", "The command's own micro-batch; 0: not known." },
	{ "own_grad_accum", "Its own accumulation; 0: not known." },
	{ "recommended_argv", "The command with the recommended sizes, one "
			      "line per argument, secrets masked; for exports. "
			      "Never executed." },
	{ "recommended_env", "A variable that it needs, NAME=value; a NAME "
			     "alone is to be unset; one line each." },
	{ "host", "The machine whose probes it is of." },
	{ "versions", "A framework or the driver, and its version; one line "
		      "each." },
	{ "argv", "The command as it was given, one line per argument. Values "
		  "that look secret are masked. Never executed." },
	{ "identity", "All that must be equal for the record to be used "
		      "without a probe: arguments other than sizes and neutral "
		      "ones, contents of the script and of configuration "
		      "files, versions, devices, budget." },
	{ NULL, NULL },
};

static const struct field_text device_texts[] = {
	{ "uuid", "The GPU, as its driver calls it; empty for host memory." },
	{ "name", "The model." },
	{ "total_bytes", "Its memory." },
	{ "free_bytes", "What was free when the tuning began." },
	{ "budget_bytes", "What the tuning could use of it." },
	{ "emulated_as", "The model that it stood in for, by --as." },
	{ NULL, NULL },
};

static const struct field_text probe_texts[] = {
	{ "micro_batch", "The micro-batch of the probe." },
	{ "grad_accum", "Its accumulation, which may be less than the "
			"answer's." },
	{ "verdict", "What the probe proved." },
	{ "phase", "The furthest it came." },
	{ "rank", "The first rank that failed; -1: none, or not known." },
	{ "peak_bytes", "Its peak; 0: not known." },
	{ "rest_bytes", "What of the peak is held between two optimizer "
			"steps, without gradients; 0: not known." },
	{ "forward_bytes", "What a forward pass leaves for its backward pass; "
			   "0: not known." },
	{ "pass_bytes", "What a micro-step takes for a while above what is "
			"held before and behind it; 0: not known." },
	{ "limit_bytes", "What the peak was judged by; lower than the "
			 "tuning's where it grew or varied; 0: not known." },
	{ "peak_is_lower_bound", "It was stopped before its steps were done: "
				 "the peak is at least this." },
	{ "peak_has_files", "The command was over before what it used could be "
			    "told from pages of files: at most the peak." },
	{ "peak_rising", "The peak still rose in the last third." },
	{ "peak_varying", "Peaks differ by more than 2% between steps." },
	{ "sizes_differ", "As many rows of other sizes went into the model." },
	{ "data_in_order", "Its data came in their own order, and were seen "
			   "only in part." },
	{ "is_idle", "Its first steps found no gradient." },
	{ "has_frozen", "Its optimizer holds parameters that are not trained "
			"yet." },
	{ "step_growth_bytes", "The peak rose by this with every step; 0: it "
			       "did not." },
	{ "ran_to_end", "The command ended by itself: all of it ran." },
	{ "is_forked", "It was a copy of a process that had done the imports, "
		       "and no start of its own." },
	{ "steps_were_awaited",
	  "Steps of its output counted only a minute after the first." },
	{ "is_elsewhere", "It ran on another GPU of the same model than the "
			  "command's own, and confirms nothing." },
	{ "gpu", "That GPU's UUID." },
	{ "round", "Probes with the same number ran side by side; 0: it ran "
		   "alone." },
	{ "coverage", "How exactly memory was seen." },
	{ "steps_source", "How steps were counted." },
	{ "steps", "Optimizer steps that were seen." },
	{ "confirmed_steps", "Those of a confirmation; 0: it was none." },
	{ "later_passes", "Backward passes after its first step, where those "
			  "counted as steps do." },
	{ "seconds", "How long it ran." },
	{ "step_seconds", "The median of its steps; 0: not known." },
	{ "step_mad_seconds", "The median deviation of its steps from that; "
			      "0: not known." },
	{ "pass_seconds", "Of its step the time of a micro-step; 0: not "
			  "known." },
	{ "alike_after", "What went into the model had the same sizes, and the "
			 "peak rose no more after so many steps; 0: not so." },
	{ "input_rows", "The first dimension of what went into the model; 0: "
			"not seen." },
	{ "input_columns", "The second, where there are two or three; 0: not "
			   "so, or not seen." },
	{ "seen_accum", "Micro-steps of one optimizer step, as seen; 0: not "
			"seen." },
	{ "seen_ranks", "Ranks that share the gradients, as seen; 0: not "
			"seen." },
	{ "loader_rows", "Samples in a batch of the data loader; 0: not "
			 "seen." },
	{ "data_rows", "Samples that a data loader has, of one rank; 0: not "
		       "seen." },
	{ "echo_micro", "The micro-batch as the program itself printed it; 0: "
			"it did not." },
	{ "echo_accum", "The same of its accumulation." },
	{ "echo_effective", "The same of its effective batch." },
	{ "why", "What the verdict rests on." },
	{ "log", "Where its output was kept." },
	{ NULL, NULL },
};

static const struct field_text setting_texts[] = {
	{ "size", "What it is: micro_batch, grad_accum or effective_batch; a "
		  "number of passes that goes with the accumulation is "
		  "grad_accum." },
	{ "name", "The option, key, variable or constant." },
	{ "value", "What it is to be." },
	{ "was", "What the command has there; absent: nothing." },
	{ "where", "argument N, argument (to be added), environment, or "
		   "file:line." },
	{ NULL, NULL },
};

static const char *text_of(const struct field_text *texts, const char *name)
{
	for (; texts->name; texts++)
		if (strcmp(texts->name, name) == 0)
			return texts->text;
	return NULL;
}

const char *manpage_record_field(const char *name)
{
	return text_of(record_texts, name);
}

const char *manpage_device_field(const char *name)
{
	return text_of(device_texts, name);
}

const char *manpage_probe_field(const char *name)
{
	return text_of(probe_texts, name);
}

const char *manpage_setting_field(const char *name)
{
	return text_of(setting_texts, name);
}
