/* Records of any bytes: refused, or sound, and then written as they read. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record.h"
#include "tests/fuzz/fuzz.h"

static void check_record(const struct record *record)
{
	fuzz_check(record->batch.micro_batch > 0 &&
			   record->batch.grad_accum > 0 &&
			   record->batch.world_size > 0,
		   "its sizes are sizes");
	fuzz_check(record->identity && record->subject && record->device_kind,
		   "it says what it is of");
	fuzz_check(record->device_count <= RECORD_DEVICES_MAX,
		   "devices are bounded");
}

/* What is written of it reads, and is then written the same. */
static void check_again(const struct record *record)
{
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct record again = RECORD_INIT;
	struct error err = ERROR_INIT;

	if (record_format(record, &first, &err) < 0)
		fuzz_fail("what was read can be written", err.message);
	if (record_parse(&again, "again", &first, &err) < 0)
		fuzz_fail("what was written reads", err.message);
	if (record_format(&again, &second, &err) < 0)
		fuzz_fail("it can be written again", err.message);
	fuzz_check(first.length == second.length &&
			   memcmp(strbuf_text(&first), strbuf_text(&second),
				  first.length) == 0,
		   "it is written the same");
	fuzz_check(strlist_equal(&record->argv, &again.argv),
		   "the command is the same");
	record_release(&again);
	strbuf_release(&first);
	strbuf_release(&second);
}

void fuzz_one(const char *data, size_t size)
{
	struct record record = RECORD_INIT;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;

	strbuf_add(&text, data, size);
	if (record_parse(&record, "x.ini", &text, &err) < 0) {
		fuzz_check(err.code < 0 && *err.message, "refused with words");
	} else {
		check_record(&record);
		check_again(&record);
	}
	record_release(&record);
	strbuf_release(&text);
}
