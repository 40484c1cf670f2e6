/* What the words of an option's name say of it. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A name is taken apart at its dashes, dots and capitals, and a word that is
 * glued together ("microbatchsize") into words of the list below. What kinds of
 * words there are, and whether one of them is none of these, decides.
 */
#include "launcher/command/text/option_class.h"

#include "base/name.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define WORDS_IN_NAME_MAX 24
#define WORD_BYTES_MAX 40

/* Kinds of words; one word may be of several. */
enum {
	W_NEUTRAL = 1 << 0, /* changes nothing: train, size, num */
	W_BATCH = 1 << 1,
	W_BATCHES = 1 << 2, /* several: a count of them */
	W_BRIEF = 1 << 3,   /* bs: a size, whatever stands beside it */
	W_SIZE = 1 << 4,
	W_MICRO = 1 << 5,
	W_LOCAL = 1 << 6,
	W_UNIT = 1 << 7, /* gpu: one rank */
	W_NODE = 1 << 8,
	W_PER = 1 << 9,
	W_GLOBAL = 1 << 10,
	W_ALL = 1 << 11, /* global beside a unit only */
	W_ACCUM = 1 << 12,
	W_ACC = 1 << 13, /* accumulation beside a step only */
	W_GA = 1 << 14,  /* with words that it is known to stand with */
	W_GRAD = 1 << 15,
	W_STEP = 1 << 16,
	W_EVERY = 1 << 17,
	W_COUNT = 1 << 18,
	W_SAMPLES = 1 << 19,
	W_UPDATE = 1 << 20, /* what comes once in several batches */
	W_BACKWARD = 1 << 21,
	W_EVALUATION = 1 << 22,
	W_DECOY = 1 << 23,
	W_UNKNOWN = 1 << 24,
	W_EXTENT = 1 << 25, /* of a sample, or of the model */
	W_THING = 1 << 26,  /* what is trained, and on what */
	W_SEEK = 1 << 27,   /* to be found out by trying */
};

struct word_kind {
	const char *words; /* with a blank between them */
	unsigned kind;
};

static const struct word_kind word_kinds[] = {
	{ "batch batchsize bsize bz", W_BATCH },
	{ "batches minibatches", W_BATCHES },
	{ "bs bsz", W_BATCH | W_BRIEF },
	{ "mbs mbsz ubs ubatch", W_BATCH | W_BRIEF | W_MICRO },
	{ "gbs gbsz tbs", W_BATCH | W_BRIEF | W_GLOBAL },
	{ "size sz siz", W_SIZE },
	{ "micro sub physical", W_MICRO },
	{ "local", W_LOCAL },
	{ "device devices gpu gpus cuda rank ranks card cards proc procs "
	  "process processes npu tpu xpu hpu mlu core cores chip chips "
	  "accelerator accelerators replica replicas worker",
	  W_UNIT },
	{ "node nodes host hosts machine machines server", W_NODE },
	{ "per each", W_PER },
	{ "global total effective eff overall whole logical tot aggregate "
	  "combined glob virtual target desired",
	  W_GLOBAL },
	{ "all across", W_ALL },
	{ "gaccum gradaccum cumulative", W_ACCUM },
	{ "acc accu", W_ACC },
	{ "ga gas gacc", W_GA },
	{ "grad grads gradient gradients", W_GRAD },
	{ "step steps iter iters iteration iterations cycle cycles", W_STEP },
	{ "every freq frequency interval period factor times count counts "
	  "multiplier mult",
	  W_EVERY },
	{ "length", W_EVERY | W_EXTENT },
	{ "num n nr number nb", W_COUNT },
	{ "sample samples img imgs image images im ims example examples "
	  "sequence sequences seq seqs item items utterance utterances utts "
	  "sentence sentences sents clip clips video videos patches crops",
	  W_SAMPLES },
	{ "allreduce reduce update updates optim optimizer optimiser opt "
	  "sync",
	  W_UPDATE },
	{ "backward backwards backprop passes pass", W_BACKWARD },
	{ "train training trainer trn tr mini default ddp dist distributed hp "
	  "hparams hparam args arg cfg config conf params the for to in of "
	  "at my learner",
	  W_NEUTRAL },
	{ "model data loader dataloader dataset", W_NEUTRAL | W_THING },
	{ "eval evaluation evaluate evaluating evaluator val vals valid "
	  "validation validate validating dev test tests testing infer "
	  "inference inferring predict prediction predictions pred gen "
	  "generate generation generating generator rollout rollouts "
	  "sampling decode decoding benchmark bench gallery query calib "
	  "calibration preprocess preprocessing tokenize tokenizer "
	  "tokenization encoding embedding feature features visualize vis",
	  W_EVALUATION },
	{ "log logs logging logger logp logprob print save saving norm "
	  "normalization bn renorm first last drop skip idx index "
	  "id ids mode type name names dir path file fn func "
	  "rampup ramp increase increment warmup schedule scheduler "
	  "sched multiple multiples divisor base lr loss accuracy prefetch "
	  "queue buffer cache shuffle sampler sizes dtype fusion fuse fp "
	  "checkpoint checkpoints checkpointing ckpt ignore keep show plot "
	  "epoch epochs thresh threshold top best worst workers mixup cutmix "
	  "aug augment transform transforms timeout stat stats statistics "
	  "seed momentum eps bucket buckets bucketing mem memory processor "
	  "processors scale scaling clipping warn retry cpu pin "
	  "gamma garbage gain",
	  W_DECOY },
	{ "auto find finder search", W_DECOY | W_SEEK },
	/* Beside a batch they are as good as words that nobody knows. */
	{ "len lens lengths seqlen maxlen bptt context ctx window windows "
	  "horizon block blocks width widths height resolution hidden hid "
	  "dim dims dimension dimensions embed embd emb nembd dmodel layer "
	  "layers nlayers head heads nhead depth channel channels filters "
	  "units vocab vocabulary kernel stride patch ff ffn mlp class "
	  "classes",
	  W_UNKNOWN | W_EXTENT },
};

/* The kinds of one whole word; 0: none of the list. */
static unsigned word_kinds_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(word_kinds) / sizeof(*word_kinds); i++) {
		const char *words = word_kinds[i].words;

		/* There are fewer of most letters than there are words. */
		for (const char *at = strchr(words, *word); at;
		     at = strchr(at + 1, *word))
			if ((at == words || at[-1] == ' ') &&
			    strncmp(at, word, length) == 0 &&
			    (at[length] == ' ' || at[length] == '\0'))
				return word_kinds[i].kind;
	}
	/* accumulate, accumulation, accumulated; with one c by mistake. */
	if ((length >= 5 && memcmp(word, "accum", 5) == 0 && length <= 13) ||
	    (length >= 4 && memcmp(word, "acum", 4) == 0 && length <= 12))
		return W_ACCUM;
	return 0;
}

/* Kinds of a word that is glued of several; 0: it is not. */
static unsigned kinds_glued(const char *word, size_t length)
{
	/* ways[i]: kinds of the first i letters, the longest last word first */
	unsigned ways[WORD_BYTES_MAX + 1] = { 0 };

	for (size_t end = 1; end <= length; end++) {
		for (size_t start = 0; start < end && !ways[end]; start++) {
			unsigned kinds;

			/* A letter alone, or no beginning, is no word. */
			if ((start > 0 && (!ways[start] || end - start < 2)))
				continue;
			kinds = word_kinds_of(word + start, end - start);
			if (kinds && !(kinds & W_UNKNOWN))
				ways[end] = kinds | ways[start];
		}
	}
	return ways[length];
}

/* What is known of a name, or of a part of it between dots. */
struct name_words {
	unsigned kinds;
	size_t count;
};

static void word_add(struct name_words *words, const char *word, size_t length)
{
	char lower[WORD_BYTES_MAX] = "";
	unsigned kinds = 0;

	if (length == 0)
		return;
	if (length < sizeof(lower)) {
		for (size_t i = 0; i < length; i++)
			lower[i] = (char)(word[i] >= 'A' && word[i] <= 'Z'
						  ? word[i] - 'A' + 'a'
						  : word[i]);
		kinds = word_kinds_of(lower, length);
		if (!kinds)
			kinds = kinds_glued(lower, length);
	}
	words->kinds |= kinds ? kinds : W_UNKNOWN;
	words->count++;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Does a new word begin at text[i], which is not its first byte? */
static bool word_begins(const char *text, size_t i, size_t length)
{
	char before = text[i - 1], here = text[i];

	if (name_is_digit(here) != name_is_digit(before))
		return true;
	if (!is_upper(here))
		return false;
	/* gradAccum; BSZPerGPU: the last capital of several begins a word. */
	return is_lower(before) ||
	       (is_upper(before) && i + 1 < length && is_lower(text[i + 1]));
}

static bool is_letter(char c)
{
	return is_upper(c) || is_lower(c) || name_is_digit(c);
}

static struct name_words words_of(const char *text, size_t length)
{
	struct name_words words = { 0 };
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		if (!is_letter(text[i])) {
			word_add(&words, text + start, i - start);
			start = i + 1;
		} else if (i > start && word_begins(text, i, length)) {
			word_add(&words, text + start, i - start);
			start = i;
		}
	}
	word_add(&words, text + start, length - start);
	if (words.count > WORDS_IN_NAME_MAX)
		words.kinds |= W_UNKNOWN;
	return words;
}

/* Words of an accumulation, and beside them only what may stand there. */
static enum option_class class_of_accum(unsigned kinds)
{
	unsigned beside = W_ACCUM | W_ACC | W_GA | W_GRAD | W_STEP | W_EVERY |
			  W_COUNT | W_BATCH | W_BATCHES | W_MICRO | W_UPDATE |
			  W_BACKWARD | W_NEUTRAL | W_PER;

	/* batch_accumulation_per_replica: each rank has its own. */
	if (kinds & W_PER)
		beside |= W_UNIT;

	if (!(kinds & W_ACCUM)) {
		/* accuracy, not accumulation, unless steps or gradients. */
		if (!(kinds & (W_GRAD | W_STEP | W_BATCHES)) && !(kinds & W_GA))
			return OPTION_OTHER;
		if ((kinds & W_GA) && (kinds & ~beside))
			return OPTION_OTHER;
	}
	if ((kinds & ~beside) || (kinds & W_BRIEF))
		return OPTION_ACCUM_LIKE;
	return OPTION_ACCUM;
}

/* Counts of micro-batches, batches of one update. */
static enum option_class class_of_count(unsigned kinds)
{
	bool known = !(kinds & (W_UNKNOWN | W_SIZE | W_SAMPLES));

	if ((kinds & W_MICRO) &&
	    (kinds & (W_BATCHES | W_STEP) ||
	     ((kinds & W_BATCH) && (kinds & W_COUNT) && !(kinds & W_PER))))
		return known ? OPTION_ACCUM : OPTION_ACCUM_LIKE;
	/* micro_num: of micro-batches, most likely. */
	if ((kinds & W_MICRO) && (kinds & W_COUNT) &&
	    !(kinds & ~(unsigned)(W_MICRO | W_COUNT | W_NEUTRAL)))
		return OPTION_ACCUM_LIKE;
	if (!(kinds & W_PER))
		return OPTION_OTHER;
	if ((kinds & W_BATCHES) && (kinds & (W_UPDATE | W_STEP)))
		return known ? OPTION_ACCUM : OPTION_ACCUM_LIKE;
	if ((kinds & W_BACKWARD) && (kinds & (W_UPDATE | W_STEP)))
		return known ? OPTION_ACCUM : OPTION_ACCUM_LIKE;
	return OPTION_OTHER;
}

/* samples_per_gpu, imgs_per_batch */
static enum option_class class_of_samples(unsigned kinds)
{
	const unsigned beside = W_SAMPLES | W_PER | W_UNIT | W_NODE | W_BATCH |
				W_COUNT | W_NEUTRAL;

	if (!(kinds & W_PER) || (kinds & ~beside))
		return kinds & W_BATCH ? OPTION_BATCH_LIKE : OPTION_OTHER;
	if (kinds & W_UNIT)
		return OPTION_MICRO;
	if (kinds & W_NODE)
		return OPTION_MICRO_NODE;
	return kinds & W_BATCH ? OPTION_BATCH : OPTION_OTHER;
}

static enum option_class class_of_batch(unsigned kinds)
{
	const unsigned beside = W_BATCH | W_BRIEF | W_SIZE | W_MICRO | W_LOCAL |
				W_UNIT | W_NODE | W_PER | W_GLOBAL | W_ALL |
				W_NEUTRAL | W_UPDATE | W_STEP;
	bool is_whole = kinds & W_GLOBAL;

	if (kinds & ~beside)
		return (kinds & W_MICRO) ||
				       ((kinds & W_PER) && (kinds & W_UNIT))
			       ? OPTION_MICRO_LIKE
			       : OPTION_BATCH_LIKE;
	/* batch_steps: a time, unless it is the batch of a step. */
	if ((kinds & W_STEP) && !(kinds & W_PER))
		return kinds & (W_SIZE | W_BRIEF) ? OPTION_BATCH_LIKE
						  : OPTION_DECOY;
	if (kinds & W_ALL) {
		if (!(kinds & (W_UNIT | W_NODE | W_GLOBAL)))
			return OPTION_BATCH_LIKE;
		return OPTION_GLOBAL;
	}
	if (is_whole && (kinds & (W_MICRO | W_LOCAL | W_UNIT | W_NODE)))
		return OPTION_BATCH_LIKE;
	if (is_whole)
		return OPTION_GLOBAL;
	if (kinds & W_NODE)
		return OPTION_MICRO_NODE;
	if (kinds & (W_MICRO | W_LOCAL | W_UNIT))
		return OPTION_MICRO;
	return kinds & (W_UPDATE | W_STEP) ? OPTION_BATCH_LIKE : OPTION_BATCH;
}

static enum option_class class_of_words(unsigned kinds)
{
	const unsigned topic = W_BATCH | W_BATCHES | W_ACCUM | W_ACC | W_GA;
	enum option_class found;

	kinds &= ~(unsigned)W_THING;
	if (kinds & (W_DECOY | W_EVALUATION))
		return kinds & topic ? OPTION_DECOY : OPTION_OTHER;
	if (kinds & (W_ACCUM | W_ACC | W_GA)) {
		found = class_of_accum(kinds);
		if (found != OPTION_OTHER)
			return found;
	}
	found = class_of_count(kinds);
	if (found != OPTION_OTHER)
		return found;
	if (kinds & W_SAMPLES)
		return class_of_samples(kinds);
	return kinds & W_BATCH ? class_of_batch(kinds) : OPTION_OTHER;
}

static bool option_class_goes_on(const char *name, size_t left,
				 const char *piece)
{
	size_t length = strlen(piece);

	return left >= length && strncasecmp(name, piece, length) == 0;
}

/* Most options are none of these; scripts and files have thousands. */
static bool may_matter(const char *name, size_t length)
{
	static const char *const pieces[] = { "bs",    "bz",   "bat", "acc",
					      "acu",   "ga",   "per", "each",
					      "micro", "cumul" };

	for (size_t i = 0; i + 1 < length; i++) {
		/* ASCII letters alone become what is looked for. */
		int first = name[i] | 0x20;

		for (size_t k = 0; k < sizeof(pieces) / sizeof(*pieces); k++)
			if (first == pieces[k][0] &&
			    option_class_goes_on(name + i, length - i,
						 pieces[k]))
				return true;
	}
	return false;
}

/* eval.batch_size, and sample.batch_size of a section for what is drawn from
 * the model; "sample" beside other words may be a sample of the data. */
static bool is_aside_section(const char *sections, size_t length)
{
	static const char sample[] = "sample";
	const char *dot = memrchr(sections, '.', length);
	const char *last = dot ? dot + 1 : sections + strspn(sections, "-+~");

	return (words_of(sections, length).kinds & W_EVALUATION) ||
	       ((size_t)(sections + length - last) == strlen(sample) &&
		strncasecmp(last, sample, strlen(sample)) == 0);
}

enum option_class option_class_of(const char *name, size_t length)
{
	enum option_class found;
	const char *dot, *before;
	size_t whole = 0;

	while (whole < length && name[whole] && name[whole] != '=')
		whole++;
	if (!may_matter(name, whole))
		return OPTION_OTHER;
	dot = memrchr(name, '.', whole);
	if (!dot)
		return class_of_words(words_of(name, whole).kinds);
	/* model.eval.batch_size: where it stands may make it an evaluation's */
	found = class_of_words(
		words_of(dot + 1, (size_t)(name + whole - dot - 1)).kinds);
	if (found == OPTION_OTHER) {
		before = memrchr(name, '.', (size_t)(dot - name));
		before = before ? before + 1 : name;
		found = class_of_words(
			words_of(before, (size_t)(name + whole - before))
				.kinds);
	}
	if (found != OPTION_OTHER &&
	    is_aside_section(name, (size_t)(dot - name)))
		return OPTION_DECOY;
	return found;
}

bool option_name_is_aside(const char *name, size_t length)
{
	return words_of(name, length).kinds &
	       (W_DECOY | W_EVALUATION | W_EXTENT);
}

bool option_seeks_batch(const char *name, size_t length)
{
	unsigned kinds = words_of(name, length).kinds;

	return (kinds & W_SEEK) && (kinds & W_BATCH) && (kinds & W_SIZE) &&
	       !(kinds & W_EVALUATION);
}

bool option_steps_are_aside(const char *name, size_t length)
{
	const char *dot = memrchr(name, '.', length);
	unsigned section, own;

	if (!dot)
		return false;
	section = words_of(name, (size_t)(dot - name)).kinds;
	own = words_of(dot + 1, length - (size_t)(dot + 1 - name)).kinds;
	/* max_steps says more of itself than steps does. */
	return (section & (W_DECOY | W_EVALUATION | W_EXTENT)) ||
	       (!(own & ~(unsigned)(W_STEP | W_COUNT)) &&
		(section & (W_THING | W_UNKNOWN)));
}

bool option_counts_pieces(const char *name, size_t length)
{
	unsigned kinds = words_of(name, length).kinds;

	return (kinds & W_MICRO) && (kinds & (W_BATCH | W_BATCHES)) &&
	       !(kinds & (W_ACCUM | W_ACC | W_GA | W_GRAD)) &&
	       class_of_count(kinds) == OPTION_ACCUM;
}
