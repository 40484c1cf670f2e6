/* A network of convolutions, walked from the image to its classes. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A step is a layer, or a block of them that is repeated: conv_steps.c says
 * what each adds. Of many alike the first three and the last are looked at.
 */
#include "estimator/nets/conv.h"

#include "estimator/nets/conv_walk.h"
#include "estimator/nets/count.h"

#include <stdbool.h>

/* One block; the first of a step is the one that narrows. */
static void walk_block(struct conv_walk *walk, const struct conv_step *step,
		       bool is_first)
{
	struct conv_totals *totals = walk->totals;
	int64_t before = totals->kept;
	struct conv_step own = *step;

	if (!is_first)
		own.stride = 1;
	totals->inputs = count_add(totals->inputs, conv_plane(walk));
	walk->beside = conv_plane(walk);
	conv_walk_step(walk, &own);
	totals->block =
		count_most(totals->block, count_above(totals->kept, before));
}

typedef void conv_seen_fn(const struct conv_walk *walk, void *context);

/* What a block adds, and the next one: equal, or more by as much each time
 * (DenseNet reads all that came before). */
struct conv_growth {
	struct conv_totals totals[3]; /* behind the first three */
	int64_t channels[3];
};

static int64_t conv_grown(int64_t first, int64_t second, int64_t third,
			  int64_t blocks)
{
	int64_t last = third - second;
	int64_t more = last - (second - first);

	if (third == COUNT_OVERFLOW)
		return COUNT_OVERFLOW;
	return count_add(third,
			 count_add(count_mul(last, blocks),
				   count_mul(more, blocks * (blocks + 1) / 2)));
}

/* As if so many more blocks had been walked. */
static void walk_skip(struct conv_walk *walk, const struct conv_growth *growth,
		      int64_t blocks)
{
	const struct conv_totals *seen = growth->totals;
	struct conv_totals *totals = walk->totals;

	totals->parameters = conv_grown(seen[0].parameters, seen[1].parameters,
					seen[2].parameters, blocks);
	totals->kept =
		conv_grown(seen[0].kept, seen[1].kept, seen[2].kept, blocks);
	totals->inputs = conv_grown(seen[0].inputs, seen[1].inputs,
				    seen[2].inputs, blocks);
	walk->channels = conv_grown(growth->channels[0], growth->channels[1],
				    growth->channels[2], blocks);
}

/* Of many blocks the first three and the last are walked. */
static void walk_step(struct conv_walk *walk, const struct conv_step *step,
		      conv_seen_fn *seen, void *context)
{
	struct conv_growth growth;

	for (int64_t i = 0; i < step->repeat; i++) {
		if (i == 3 && step->repeat > 4) {
			walk_skip(walk, &growth, step->repeat - 4);
			i = step->repeat - 1;
		}
		walk_block(walk, step, i == 0);
		if (seen)
			seen(walk, context);
		if (i < 3) {
			growth.totals[i] = *walk->totals;
			growth.channels[i] = walk->channels;
		}
	}
}

/* seen is called behind each block that is walked: what it compares grows
 * evenly between them. */
static void walk_all(struct conv_walk *walk, conv_seen_fn *seen, void *context)
{
	const struct model_facts *facts = walk->facts;

	*walk->totals = (struct conv_totals){ 0 };
	walk->channels = facts->channels;
	walk->side = facts->image;
	conv_keep(walk, 1);
	for (size_t i = 0; i < facts->step_count; i++)
		walk_step(walk, &facts->steps[i], seen, context);
}

void conv_count(const struct model_facts *facts, struct conv_totals *totals)
{
	struct conv_walk walk = { .facts = facts, .totals = totals };

	walk_all(&walk, NULL, NULL);
}

struct working_question {
	int64_t images, element, gradient;
	int64_t parameters; /* of the whole network */
	int64_t most;
};

static int64_t all_images(const struct working_question *question,
			  int64_t elements, int64_t bytes)
{
	int64_t image =
		count_add(count_mul(elements, question->element), bytes);

	return count_mul(image, question->images);
}

static void working_look(const struct conv_walk *walk, void *context)
{
	struct working_question *question = context;
	const struct conv_totals *totals = walk->totals;
	/* The gradients of what came out, and of what went in. */
	int64_t elements =
		count_add(totals->kept, count_mul(conv_plane(walk), 2));
	int64_t later = count_above(question->parameters, totals->parameters);

	question->most = count_most(
		question->most,
		count_add(all_images(question, elements, totals->kept_bytes),
			  count_mul(later, question->gradient)));
}

int64_t conv_working(const struct model_facts *facts,
		     const struct conv_totals *totals, int64_t images,
		     int64_t element, int64_t gradient)
{
	struct working_question question = {
		.images = images,
		.element = element,
		.gradient = gradient,
		.parameters = totals->parameters,
	};
	struct conv_totals again;
	struct conv_walk walk = { .facts = facts, .totals = &again };

	walk_all(&walk, working_look, &question);
	return count_above(question.most, all_images(&question, totals->kept,
						     totals->kept_bytes));
}
