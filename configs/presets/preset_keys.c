/* The keys of a preset: where each goes, and what it means. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/preset.h"

#define ROW(section, name, kind, member, doc)                                  \
	{                                                                      \
		section, name, kind, offsetof(struct preset, member), doc,     \
			NULL                                                   \
	}
#define EXAMPLE_ROW(name, kind, member, doc)                                   \
	{                                                                      \
		"example NAME", name, kind,                                    \
			offsetof(struct preset_example, member), doc, NULL     \
	}
#define KNOB_WORD_ROW(section, name, kind, knob, member, words, doc)           \
	{                                                                      \
		section, name, kind,                                           \
			offsetof(struct preset, knob) +                        \
				offsetof(struct preset_knob, member),          \
			doc, words                                             \
	}
#define KNOB_ROW(section, name, kind, knob, member, doc)                       \
	KNOB_WORD_ROW(section, name, kind, knob, member, NULL, doc)
#define KNOB_ROWS(section, knob)                                               \
	KNOB_ROW(section, "name", INI_LIST, knob, names,                       \
		 "its option, preferred spelling first: --x or -x as it "      \
		 "stands; without dashes the last part of a dotted name, or "  \
		 "all of it if it has a dot itself"),                          \
		KNOB_ROW(section, "key", INI_LIST, knob, keys,                 \
			 "the same in a config file that the command names"),  \
		KNOB_WORD_ROW(                                                 \
			section, "scope", INI_CHOICE, knob, scope,             \
			scope_names,                                           \
			"micro: per rank, per node, or global; accum: per "    \
			"rank, or total over all ranks"),                      \
		KNOB_ROW(section, "default", INI_COUNT, knob, default_value,   \
			 "the value when it is not given; left out when it "   \
			 "is not certain"),                                    \
		KNOB_WORD_ROW(                                                 \
			section, "unit", INI_WORD, knob, unit,                 \
			preset_unit_names,                                     \
			"tokens: it counts tokens, see sample_tokens; "        \
			"groups: groups of samples, see group_samples; "       \
			"micro_steps: steps are forward and backward passes"), \
		KNOB_ROW(section, "joined_only", INI_SWITCH, knob,             \
			 joined_only, "only --x=8 is understood"),             \
		KNOB_ROW(section, "bare", INI_SWITCH, knob, bare,              \
			 "x=8 is understood, without dashes"),                 \
		KNOB_ROW(section, "fraction", INI_SWITCH, knob, fraction,      \
			 "12.0 is 12"),                                        \
		KNOB_ROW(section, "rounds", INI_SWITCH, knob, rounds,          \
			 "global: the program divides it by the batch and "    \
			 "rounds; accumulation is that, at least 1")
#define PHASE_ROW(section, name, phase, member, doc)                           \
	{                                                                      \
		section, name, INI_LIST,                                       \
			offsetof(struct preset, phase) +                       \
				offsetof(struct preset_phase, member),         \
			doc, NULL                                              \
	}
#define PHASE_ROWS(section, phase)                                             \
	PHASE_ROW(section, "when", phase, when,                                \
		  "conditions under which a run does it, any of them; none: "  \
		  "always"),                                                   \
		PHASE_ROW(section, "off", phase, off,                          \
			  "NAME VALUE: what leaves it out of probes"),         \
		PHASE_ROW(section, "forward", phase, forward,                  \
			  "NAME VALUE: what brings it forward in a probe "     \
			  "that may be the answer; {half} is half its steps")
#define MODEL_ROW(name, field, doc)                                            \
	ROW("model", name, INI_LIST, model[field], doc)

const char *const preset_unit_names[] = {
	[UNIT_PLAIN] = "plain",
	[UNIT_TOKENS] = "tokens",
	[UNIT_GROUPS] = "groups",
	[UNIT_MICRO_STEPS] = "micro_steps",
	NULL,
};

static const char *const scope_names[] = { "rank", "node", "global", "total",
					   NULL };

const struct ini_key preset_keys[] = {
	ROW("preset", "description", INI_TEXT, description,
	    "a few words for the report"),
	ROW("preset", "extends", INI_TEXT, extends,
	    "name of the preset that this one is a copy of: to its lists "
	    "it adds, its single values it replaces"),
	ROW("recognise", "entry", INI_LIST, signs.entries,
	    "a program and its first words, as globs: tune run, yolo * "
	    "train"),
	ROW("recognise", "script", INI_LIST, signs.scripts,
	    "name of the script or program, with a folder if it has a /; a "
	    "glob"),
	ROW("recognise", "module", INI_LIST, signs.modules,
	    "the module behind python -m; a glob"),
	ROW("recognise", "config", INI_LIST, signs.configs,
	    "keys that a config file named in the command has"),
	ROW("recognise", "flag", INI_LIST, signs.flags,
	    "an option in the command"),
	ROW("recognise", "source", INI_LIST, signs.sources,
	    "a text in the script"),
	KNOB_ROWS("micro", knobs.micro),
	KNOB_ROWS("accum", knobs.accum),
	KNOB_ROWS("global", knobs.global),
	KNOB_ROWS("steps", knobs.steps),
	KNOB_ROWS("output", knobs.output),
	ROW("output", "keep_with", INI_LIST, knobs.output_keep_with,
	    "with this option the folder is read too, and left alone"),
	ROW("syntax", "decoy", INI_LIST, knobs.decoys,
	    "names that are never a knob; globs"),
	ROW("syntax", "config", INI_LIST, files.config_tokens,
	    "arguments that name a config file over which options win: "
	    "--config, *.yaml"),
	ROW("syntax", "config_only", INI_LIST, files.config_only,
	    "the same, where no option wins over it: a copy of the file is "
	    "changed"),
	ROW("syntax", "config_calls", INI_LIST, files.config_calls,
	    "calls of a script that reads nothing but its file: "
	    "parse_json_file("),
	ROW("syntax", "later_config_wins", INI_SWITCH, files.later_config_wins,
	    "a config file behind an option overrides it"),
	ROW("syntax", "group", INI_TEXT, words.group,
	    "the option that words a=1 b=2 follow: --cfg-options"),
	ROW("syntax", "pairs", INI_SWITCH, words.pairs,
	    "KEY 8 is understood, two words without dashes"),
	ROW("syntax", "sigil", INI_TEXT, words.sigil,
	    "what stands before a key that is added: ++"),
	ROW("syntax", "abbreviations", INI_SWITCH, words.abbreviations,
	    "argparse, which takes --per_device_train 8"),
	ROW("syntax", "defaults_in_source", INI_SWITCH,
	    files.defaults_in_source,
	    "batch_size = 12 in the script is the default"),
	ROW("syntax", "args_beside", INI_SWITCH, files.args_beside,
	    "a file SCRIPT.args beside the script is read before the "
	    "arguments"),
	ROW("syntax", "neutral", INI_LIST, words.neutral_args,
	    "options whose value changes no memory: a record holds all the "
	    "same"),
	ROW("syntax", "resume", INI_LIST, words.resume,
	    "NAME VALUE: by this a run that is started again goes on from its "
	    "last checkpoint"),
	ROW("world", "visible_devices", INI_SWITCH, ranks.uses_visible_devices,
	    "without a launcher it uses every visible GPU"),
	ROW("world", "devices", INI_LIST, ranks.device_flags,
	    "its options for how many GPUs; $NAME: a variable"),
	ROW("world", "device_list", INI_LIST, ranks.device_lists,
	    "its options that list the GPUs one by one: 0,1"),
	ROW("world", "nodes", INI_LIST, ranks.node_flags,
	    "its options for how many nodes"),
	ROW("world", "model_parallel", INI_LIST, ranks.model_parallel,
	    "NAME DEFAULT: ranks that share one batch; their product "
	    "divides the ranks"),
	ROW("units", "sample_tokens", INI_LIST, split.sample_tokens,
	    "NAME DEFAULT: tokens of one sample"),
	ROW("units", "group_samples", INI_LIST, split.group_samples,
	    "NAME DEFAULT: samples of one group"),
	ROW("units", "micro_steps", INI_LIST, split.micro_step_units,
	    "NAME or NAME DEFAULT: settings that count micro-steps; "
	    "rescaled exactly, or the split is not taken"),
	ROW("constraints", "micro_multiple_of", INI_LIST,
	    split.micro_multiple_of,
	    "8, NAME or NAME 8: it divides the micro-batch"),
	ROW("constraints", "micro_multiple_from", INI_LIST,
	    split.micro_multiple_from,
	    "the same, for micro-batches that are not smaller than it"),
	ROW("constraints", "micro_divides", INI_LIST, split.micro_divides,
	    "NAME: micro-batch x ranks divides it"),
	ROW("constraints", "effective_multiple_of", INI_LIST,
	    split.effective_multiple_of,
	    "8, NAME or NAME 8: it divides the effective batch"),
	ROW("constraints", "one_accum", INI_LIST, split.one_accum,
	    "conditions under which there can be no accumulation"),
	ROW("constraints", "refuse", INI_LIST, refuse,
	    "CONDITION : why the command is refused, and the way out"),
	ROW("constraints", "caveat", INI_LIST, caveats,
	    "CONDITION : text, or the text alone: said when the "
	    "micro-batch changes"),
	ROW("probe", "arg", INI_LIST, probe.args,
	    "an argument that is added to probes"),
	ROW("probe", "drop", INI_LIST, probe.drop,
	    "an option that is dropped in probes: --x VALUE with its "
	    "value, x= a word key=value"),
	ROW("probe", "env", INI_LIST, probe.env,
	    "NAME=VALUE: a variable of probes"),
	ROW("probe", "set", INI_LIST, probe.set,
	    "NAME VALUE: that option or key has this value in probes, in "
	    "place or added"),
	ROW("probe", "worst", INI_LIST, probe.worst,
	    "NAME VALUE: what makes every step of a probe as large as any "
	    "will be"),
	ROW("probe", "real_accum", INI_SWITCH, memory_grows_with_accum,
	    "memory grows with accumulation, so probes use the real one"),
	ROW("probe", "not_exercised", INI_LIST, probe.not_exercised,
	    "what probes do not run; named in the report"),
	PHASE_ROWS("evaluation", probe.evaluation),
	PHASE_ROWS("saving", probe.saving),
	MODEL_ROW("path", MODEL_PATH, "its name or path"),
	MODEL_ROW("builder", MODEL_BUILDER,
		  "the function that makes it, where the path is not there"),
	MODEL_ROW("layers", MODEL_LAYERS, "number of layers"),
	MODEL_ROW("hidden", MODEL_HIDDEN, "hidden size"),
	MODEL_ROW("heads", MODEL_HEADS, "attention heads"),
	MODEL_ROW("kv_heads", MODEL_KV_HEADS, "key and value heads"),
	MODEL_ROW("ffn", MODEL_FFN, "width of the feed-forward part"),
	MODEL_ROW("vocab", MODEL_VOCAB, "size of the vocabulary"),
	MODEL_ROW("sequence", MODEL_SEQUENCE, "length of a sequence in tokens"),
	MODEL_ROW("precision", MODEL_PRECISION, "data type of the weights"),
	MODEL_ROW("optimizer", MODEL_OPTIMIZER, "optimizer"),
	MODEL_ROW("lora_rank", MODEL_LORA_RANK, "rank of LoRA"),
	MODEL_ROW("checkpointing", MODEL_CHECKPOINTING,
		  "whether activations are checkpointed"),
	MODEL_ROW(
		"autocast", MODEL_AUTOCAST,
		"whether fp32 weights are cast in each forward pass (AMP), or "
		"to what"),
	MODEL_ROW("four_bit", MODEL_FOUR_BIT,
		  "whether frozen weights are stored in 4 bit, or in how "
		  "many (4, 8, bnb.nf4-dq)"),
	MODEL_ROW("eight_bit", MODEL_EIGHT_BIT, "the same in 8 bit"),
	MODEL_ROW("attention", MODEL_ATTENTION, "how attention is computed"),
	MODEL_ROW("completion", MODEL_COMPLETION,
		  "length of what is generated, in tokens"),
	MODEL_ROW("sharding", MODEL_SHARDING,
		  "how ranks share it: the stage of ZeRO, full_shard"),
	MODEL_ROW("offload_optimizer", MODEL_OFFLOAD_OPTIMIZER,
		  "where the states of the optimizer are: cpu, none"),
	MODEL_ROW("offload_weights", MODEL_OFFLOAD_WEIGHTS,
		  "the same of weights"),
	ROW("model", "memory", INI_LIST, memory,
	    "OPTION WORDS: what a command adds for an option that saves "
	    "memory, by its name in autofit estimate --json"),
	ROW("log", "step", INI_LIST, log.step_patterns,
	    "PCRE2 of lines that show a step: the group step, else the "
	    "first, is a counter that rises"),
	ROW("log", "ignore", INI_LIST, log.step_ignore,
	    "texts of lines that count something else"),
	ROW("log", "echo", INI_LIST, log.printed_sizes_patterns,
	    "PCRE2 of lines in which the program says its sizes: groups "
	    "micro, accum, effective"),
	{ .name = NULL },
};

const struct ini_key preset_example_keys[] = {
	EXAMPLE_ROW("command", INI_TEXT, command, "a command, split at blanks"),
	EXAMPLE_ROW("micro", INI_COUNT, micro_batch,
		    "the micro-batch to write into it"),
	EXAMPLE_ROW("accum", INI_COUNT, grad_accum,
		    "the accumulation to write"),
	EXAMPLE_ROW("effective", INI_COUNT, effective_batch,
		    "the effective batch that is read from it; left out: "
		    "it cannot be known"),
	EXAMPLE_ROW("expected", INI_TEXT, expected,
		    "what it becomes; the path of a copy is {copy}"),
	EXAMPLE_ROW("source", INI_LINES, source,
		    "text of its script, line by line"),
	EXAMPLE_ROW("file", INI_TEXT, file, "a config file that it names"),
	EXAMPLE_ROW("text", INI_LINES, text, "the lines of that file"),
	EXAMPLE_ROW("changed", INI_LINES, changed,
		    "the lines of its copy that differ"),
	EXAMPLE_ROW("refused", INI_TEXT, refused,
		    "instead of expected: words of the message with which "
		    "it is refused"),
	{ .name = NULL },
};

const char *preset_model_field_name(enum preset_model_field field)
{
	size_t offset = offsetof(struct preset, model[0]) +
			(size_t)field * sizeof(struct strlist);

	for (const struct ini_key *key = preset_keys; key->name; key++)
		if (key->offset == offset)
			return key->name;
	return "";
}
