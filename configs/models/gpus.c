/* The GPU models autofit knows, read from a table of plain cells. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/gpus.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "configs/files/csv.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of a name without its blanks; positions in it are bits of a mask. */
#define ASKED_MAX 63
#define NAMED_MAX 5
#define NEAR_MAX 3

/* A piece of a name, not terminated. */
struct gpus_word {
	const char *text;
	size_t length;
};

/* Equal but for case, blanks and signs. */
static bool gpu_same_name(const char *a, const char *b)
{
	for (;;) {
		while (*a && !isalnum((unsigned char)*a))
			a++;
		while (*b && !isalnum((unsigned char)*b))
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* The length of a word at the start that says nothing of the memory. */
static size_t idle_length(struct gpus_word text)
{
	static const char *const words[] = {
		"nvidia", "geforce",   "rtx",  "gtx",  "tesla",
		"quadro", "amd",       "gpu",  "pcie", "instinct",
		"sxm2",   "sxm4",      "sxm6", "ac",   "generation",
		"gcd",    "blackwell", "hbm3", "per",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if (length <= text.length &&
		    strncasecmp(words[i], text.text, length) == 0)
			return length;
	}
	return 0;
}

/* The next run of letters and digits; false: there is none. */
static bool gpus_next_word(const char **at, struct gpus_word *word)
{
	while (**at && !isalnum((unsigned char)**at))
		++*at;
	word->text = *at;
	while (isalnum((unsigned char)**at))
		++*at;
	word->length = (size_t)(*at - word->text);
	return word->length > 0;
}

/* Letters and digits of name in lower case; false: none, or too many. */
static bool gpus_fold(char folded[ASKED_MAX + 1], const char *name)
{
	size_t length = 0;

	for (; *name; name++) {
		if (!isalnum((unsigned char)*name))
			continue;
		if (length == ASKED_MAX)
			return false;
		folded[length++] = (char)tolower((unsigned char)*name);
	}
	folded[length] = '\0';
	return length > 0;
}

enum match {
	MATCH_NONE,
	MATCH_PART, /* it leaves out a word that counts */
	MATCH_WHOLE,
};

/* Places of asked that are reached when word stands at one of places. */
static uint64_t step(const char *asked, uint64_t places, struct gpus_word word)
{
	size_t length = strlen(asked);
	uint64_t reached = 0;

	for (size_t i = 0; i + word.length <= length; i++)
		if (places >> i & 1 &&
		    strncasecmp(asked + i, word.text, word.length) == 0)
			reached |= UINT64_C(1) << (i + word.length);
	return reached;
}

/* Where asked may begin: behind its own idle words, which name may lack. */
static uint64_t beginnings(const char *asked)
{
	size_t length = strlen(asked);
	uint64_t places = 1;

	for (size_t i = 0; i < length; i++) {
		struct gpus_word rest = { asked + i, length - i };
		size_t idle = places >> i & 1 ? idle_length(rest) : 0;

		if (idle && idle < rest.length)
			places |= UINT64_C(1) << (i + idle);
	}
	return places;
}

/* Is asked some of the words of name, in their order? */
static enum match match(const char *asked, const char *name)
{
	uint64_t part = beginnings(asked);
	uint64_t whole = part;
	struct gpus_word word;

	while (gpus_next_word(&name, &word)) {
		uint64_t kept = idle_length(word) == word.length ? whole : 0;

		whole = kept | step(asked, whole, word);
		part |= step(asked, part, word);
	}
	if (whole >> strlen(asked) & 1)
		return MATCH_WHOLE;
	return part >> strlen(asked) & 1 ? MATCH_PART : MATCH_NONE;
}

/* What is left of name without the idle words, as fold() writes it. */
static bool fold_core(char folded[ASKED_MAX + 1], const char *name)
{
	char core[GPU_MODEL_NAME_MAX];
	size_t used = 0;
	struct gpus_word word;

	while (gpus_next_word(&name, &word)) {
		size_t idle;

		while ((idle = idle_length(word)) != 0) {
			word.text += idle;
			word.length -= idle;
		}
		if (used + word.length >= sizeof(core))
			return false;
		memcpy(core + used, word.text, word.length);
		used += word.length;
	}
	core[used] = '\0';
	return gpus_fold(folded, core);
}

/* The longest run of name that asked has too, anywhere in it or at its start.
 */
static size_t common_run(const char *asked, const char *name, bool at_start)
{
	size_t best = 0;

	for (; *name; name++)
		for (const char *from = asked; *from; from++) {
			size_t length = 0;

			while (from[length] && from[length] == name[length])
				length++;
			best = length > best ? length : best;
			if (at_start)
				break;
		}
	return best;
}

/* How near the name is: models differ at their end. 0: not at all. */
static size_t nearness(const char *asked, const char *name)
{
	char folded[ASKED_MAX + 1];
	size_t run;

	if (!fold_core(folded, name))
		return 0;
	run = common_run(asked, folded, false);
	if (run < 2 || 2 * run < strlen(asked))
		return 0;
	return run + 2 * common_run(asked, folded, true);
}

/* "A (15.0 GiB), B (31.7 GiB) or C (79.1 GiB)" */
static void add_names(struct strbuf *out, const struct gpu_model *const *models,
		      size_t count)
{
	size_t shown = count < NAMED_MAX ? count : NAMED_MAX;
	char text[BYTES_TEXT_MAX];

	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			strbuf_adds(out, i + 1 == count ? " or " : ", ");
		strbuf_addf(out, "%s (%s)", models[i]->name,
			    bytes_format(text, models[i]->usable_bytes));
	}
	if (count > shown)
		strbuf_addf(out, " or %zu more", count - shown);
}

static void name_nearest(const struct gpu_catalogue *catalogue,
			 const char *asked, struct strbuf *out)
{
	const struct gpu_model *near[NEAR_MAX + 1];
	size_t scores[NEAR_MAX + 1];
	size_t count = 0;

	for (size_t i = 0; i < catalogue->count; i++) {
		size_t score = nearness(asked, catalogue->items[i].name);
		size_t at = count;

		if (!score)
			continue;
		for (; at > 0 && scores[at - 1] < score; at--) {
			near[at] = near[at - 1];
			scores[at] = scores[at - 1];
		}
		near[at] = &catalogue->items[i];
		scores[at] = score;
		count += count < NEAR_MAX;
	}
	add_names(out, near, count);
}

static const struct gpu_model *
gpus_unknown(const struct gpu_catalogue *catalogue, const char *name,
	     struct error *err)
{
	struct strbuf near = STRBUF_INIT;
	char asked[ASKED_MAX + 1];

	if (fold_core(asked, name))
		name_nearest(catalogue, asked, &near);
	(void)error_set(err, -ENOENT,
			"'%.64s' is no GPU model that is known here%s%s; a "
			"line in gpus.csv of the configuration folder adds one",
			name, near.length ? "; near it: " : "",
			strbuf_text(&near));
	strbuf_release(&near);
	return NULL;
}

/* The name in full is never another model's. catalogue->count: none. */
static size_t find_exact(const struct gpu_catalogue *catalogue,
			 const char *name)
{
	size_t i = 0;

	while (i < catalogue->count &&
	       !gpu_same_name(catalogue->items[i].name, name))
		i++;
	return i;
}

/* The models that may be meant; of many the first are named. */
struct gpus_candidates {
	const struct gpu_model *named[NAMED_MAX];
	size_t count;
	/* To whoever asks for memory, boards of one memory are one. */
	bool are_alike;
};

static struct gpus_candidates find_all(const struct gpu_catalogue *catalogue,
				       const char *asked, enum match wanted)
{
	struct gpus_candidates all = { .are_alike = true };

	for (size_t i = 0; i < catalogue->count; i++) {
		const struct gpu_model *model = &catalogue->items[i];

		if (match(asked, model->name) != wanted)
			continue;
		if (all.count < NAMED_MAX)
			all.named[all.count] = model;
		all.count++;
		if (model->usable_bytes != all.named[0]->usable_bytes)
			all.are_alike = false;
	}
	return all;
}

static const struct gpu_model *not_certain(const struct gpus_candidates *all,
					   const char *name, struct error *err)
{
	struct strbuf names = STRBUF_INIT;

	add_names(&names, all->named, all->count);
	(void)error_set(err, -ENOTUNIQ,
			"'%.64s' is not the whole name: is it %s?", name,
			strbuf_text(&names));
	strbuf_release(&names);
	return NULL;
}

const struct gpu_model *
gpu_catalogue_find(const struct gpu_catalogue *catalogue, const char *name,
		   struct error *err)
{
	size_t exact = find_exact(catalogue, name);
	char asked[ASKED_MAX + 1];
	struct gpus_candidates all;

	if (exact < catalogue->count)
		return &catalogue->items[exact];
	if (!gpus_fold(asked, name))
		return gpus_unknown(catalogue, name, err);
	all = find_all(catalogue, asked, MATCH_WHOLE);
	if (all.count && all.are_alike)
		return all.named[0];
	if (!all.count)
		all = find_all(catalogue, asked, MATCH_PART);
	return all.count ? not_certain(&all, name, err)
			 : gpus_unknown(catalogue, name, err);
}

#define BUILTIN_FILE "configs/gpus.csv"
#define MODELS_MAX 1000
/* No board is smaller, and none larger for a while. */
#define TOTAL_MIN_MIB 256
#define TOTAL_MAX_MIB (INT64_C(64) << 20)
#define COMPUTE_MAX 999
#define MULTIPROCESSORS_MAX 4096
#define CONTEXT_MAX_MIB 65536

enum gpus_column {
	COLUMN_NAME,
	COLUMN_TOTAL,
	COLUMN_USABLE,
	COLUMN_COMPUTE,
	COLUMN_MULTIPROCESSORS,
	COLUMN_CONTEXT,
	COLUMN_COUNT,
};

static const char *const column_names[COLUMN_COUNT + 1] = {
	[COLUMN_NAME] = "name",
	[COLUMN_TOTAL] = "driver_total_mib",
	[COLUMN_USABLE] = "cuda_usable_mib",
	[COLUMN_COMPUTE] = "cc",
	[COLUMN_MULTIPROCESSORS] = "sms",
	[COLUMN_CONTEXT] = "context_mib",
};

/* A file under way. */
struct gpus_reading {
	struct gpu_catalogue *catalogue;
	size_t before; /* models that were there before this file */
};

/* A whole number up to a bound; 0: it is none. */
static uint64_t gpus_whole(struct csv_cell cell, uint64_t most)
{
	uint64_t number = 0;

	for (size_t i = 0; i < cell.length && number <= most; i++) {
		if (!isdigit((unsigned char)cell.text[i]))
			return 0;
		number = number * 10 + (uint64_t)(cell.text[i] - '0');
	}
	return number <= most ? number : 0;
}

/* Whole MiB within the bounds; 0: it is not. */
static uint64_t read_mib(struct csv_cell cell, int64_t most)
{
	uint64_t mib = gpus_whole(cell, (uint64_t)most);

	return mib >= TOTAL_MIN_MIB ? mib * MIB : 0;
}

/* The driver keeps some for itself; how much, is seen on boards of a size. */
static uint64_t usable_of(uint64_t total)
{
	if (total <= 12 * GIB)
		return total / 100 * 96;
	return total - (total <= 48 * GIB ? 640 : 900) * MIB;
}

/* "8.6"; nothing of what other makers write there. */
static void read_compute(struct csv_cell cell, struct gpu_model *model)
{
	struct csv_cell major = cell;
	struct csv_cell minor;

	major.length = 0;
	while (major.length < cell.length && cell.text[major.length] != '.')
		major.length++;
	if (major.length == cell.length)
		return;
	minor.text = cell.text + major.length + 1;
	minor.length = cell.length - major.length - 1;
	model->compute_major = (int)gpus_whole(major, COMPUTE_MAX);
	model->compute_minor = (int)gpus_whole(minor, COMPUTE_MAX);
}

/* What a process has beside its allocations, where nobody has told. */
static uint64_t context_of(const struct gpu_model *model)
{
	bool is_old = 10 * model->compute_major + model->compute_minor <= 75;

	return (is_old ? 150 : 500) * MIB;
}

/* What is wrong with the cells, or NULL. */
static const char *gpus_read_model(const struct csv_cell *cells,
				   struct gpu_model *model)
{
	if (!csv_cell_name(cells[COLUMN_NAME], model->name,
			   sizeof(model->name)))
		return "the name is empty, too long or not ASCII";
	model->total_bytes = read_mib(cells[COLUMN_TOTAL], TOTAL_MAX_MIB);
	if (!model->total_bytes)
		return "driver_total_mib is no size of a GPU in MiB";
	model->usable_bytes = usable_of(model->total_bytes);
	read_compute(cells[COLUMN_COMPUTE], model);
	model->multiprocessors = (int)gpus_whole(cells[COLUMN_MULTIPROCESSORS],
						 MULTIPROCESSORS_MAX);
	model->context_bytes =
		gpus_whole(cells[COLUMN_CONTEXT], CONTEXT_MAX_MIB) * MIB;
	if (!model->context_bytes)
		model->context_bytes = context_of(model);
	if (!cells[COLUMN_USABLE].length)
		return NULL;
	model->usable_bytes = read_mib(cells[COLUMN_USABLE],
				       (int64_t)(model->total_bytes / MIB));
	return model->usable_bytes ? NULL
				   : "cuda_usable_mib is no size in MiB up to "
				     "driver_total_mib";
}

/* Why it is not added, or NULL. */
static const char *gpus_add_model(const struct gpus_reading *reading,
				  const struct gpu_model *model)
{
	struct gpu_catalogue *all = reading->catalogue;

	for (size_t i = 0; i < all->count; i++) {
		if (!gpu_same_name(all->items[i].name, model->name))
			continue;
		if (i >= reading->before)
			return "this model is there twice: the first line "
			       "counts";
		all->items[i] = *model;
		return NULL;
	}
	if (all->count == MODELS_MAX)
		return "too many models";
	all->items = xgrow(all->items, all->count, &all->capacity,
			   sizeof(*all->items));
	all->items[all->count++] = *model;
	return NULL;
}

static const char *gpus_on_row(void *context, const struct csv_cell *cells)
{
	struct gpu_model model = { .total_bytes = 0 };
	const char *problem = gpus_read_model(cells, &model);

	return problem ? problem : gpus_add_model(context, &model);
}

void gpu_catalogue_load(struct gpu_catalogue *catalogue, const char *path,
			struct strlist *warnings)
{
	struct gpus_reading reading = { .catalogue = catalogue };
	const struct csv_table table = {
		.columns = column_names,
		.expects = "name and driver_total_mib",
		.needed = COLUMN_TOTAL + 1,
		.on_row = gpus_on_row,
		.context = &reading,
	};

	memset(catalogue, 0, sizeof(*catalogue));
	csv_read_builtin(&table, BUILTIN_FILE, warnings);
	reading.before = catalogue->count;
	if (path)
		csv_read_file(&table, path, warnings);
}

void gpu_catalogue_release(struct gpu_catalogue *catalogue)
{
	free(catalogue->items);
	memset(catalogue, 0, sizeof(*catalogue));
}
