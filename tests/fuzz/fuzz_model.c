/* Model files of any bytes: facts that make sense, or words that say why. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/model.h"

#include "configs/files/csv.h"
#include "estimator/parameters.h"
#include "tests/fuzz/fuzz.h"

/* By the first byte. */
static const char *const names[] = { "config.json", "m.yaml", "m.toml", "m.ini",
				     "models.csv" };

#define NAMES (sizeof(names) / sizeof(*names))
#define CSV (NAMES - 1)

static void check_adapters(const struct model_shape *shape)
{
	int64_t all = lora_parameters(shape, 8, TARGETS_ALL);

	fuzz_check(all >= 0 && lora_parameters(shape, 8, 0) <= all,
		   "more targets have more parameters");
	fuzz_check(lora_outputs(shape, TARGETS_ALL) >= 0,
		   "outputs are counted");
}

/* What is read can be counted, or it is said why not; nothing wraps around. */
static void check_facts(const struct model_facts *facts)
{
	struct error err = ERROR_INIT;
	struct model_shape shape;
	struct model_parts parts;

	for (const struct model_field *field = model_fields; field->name;
	     field++) {
		const char *place = (const char *)facts + field->offset;
		int64_t value = field->is_flag ? *(const bool *)place
					       : *(const int64_t *)place;

		fuzz_check(value >= 0 && value <= field->most,
			   "a count is within its bounds");
	}
	fuzz_check(memchr(facts->name, '\0', sizeof(facts->name)) &&
			   memchr(facts->dtype, '\0', sizeof(facts->dtype)),
		   "texts end");
	fuzz_check(model_facts_check(facts, &err) == 0, "it was checked");
	if (model_shape(facts, &shape, &err) < 0) {
		fuzz_check(err.code < 0 && *err.message, "refused with words");
		return;
	}
	model_parts(&shape, &parts);
	fuzz_check(shape.total > 0 && shape.embedding >= 0 && shape.head >= 0 &&
			   shape.other >= 0,
		   "it has parameters");
	fuzz_check(parts.linear <= parts.layers && parts.layer >= 0 &&
			   parts.active <= parts.linear &&
			   parts.experts <= parts.linear,
		   "a part is no more than the whole");
	check_adapters(&shape);
}

static const char *on_row(void *context, const struct csv_cell *cells)
{
	char name[16];

	*(size_t *)context += 1;
	if (csv_cell_name(cells[0], name, sizeof(name)))
		fuzz_check(strlen(name) == cells[0].length, "it is whole");
	return cells[1].length ? "a number" : NULL;
}

static void read_table(const char *text, size_t length)
{
	static const char *const columns[] = { "name", "family", NULL };
	struct strlist warnings = STRLIST_INIT;
	size_t rows = 0;
	const struct csv_table table = { columns, "name", 1, on_row, &rows };

	csv_read(&table, "models.csv", text, length, &warnings);
	fuzz_check(rows <= length && warnings.count <= 21, "it is bounded");
	strlist_release(&warnings);
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t kind = fuzz_byte(&input) % NAMES;
	char *text = fuzz_copy(input, false);
	const struct model_text file = { names[kind], text, input.size };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	if (kind == CSV)
		read_table(text, input.size);
	else if (model_read_text(&facts, &file, &err) == 0)
		check_facts(&facts);
	else
		fuzz_check(err.code < 0 && *err.message, "refused with words");
	free(text);
}
