/* The matrices of each family of models. */
/* SPDX-License-Identifier: MIT */
/*
 * From huggingface/transformers, src/transformers/models, each modeling_*.py.
 * The totals were compared with those that the hub shows, or with those of the
 * classes themselves built without memory: tests/unit/test_parameters.c.
 */
#include "estimator/shapes.h"

#include "estimator/shapes_build.h"

/* Distances that T5 tells apart (relative_attention_num_buckets). */
#define T5_BUCKETS 32
/* Rows before the first position in OPT's table. */
#define OPT_OFFSET 2

static void gpt2(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, true);
	shape->embedding =
		count_add(table_size(facts->vocab, facts->hidden),
			  table_size(facts->positions, facts->hidden));
	shape->head = shape_head(facts);
	shape->other = 2 * facts->hidden;
}

/* Queries, keys and values have no bias. */
static void gptneo(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, false);
	for (size_t i = 0; i < 3; i++)
		shape->stacks[0].linears[i].has_bias = false;
	shape->embedding =
		table_size(facts->vocab + facts->positions, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = 2 * facts->hidden;
}

static void phi(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 1, false);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = count_add(shape_head(facts), facts->vocab);
	shape->other = 2 * facts->hidden;
}

static void neox(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, true);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = 2 * facts->hidden;
}

/* OPT-350m looks words up in narrower rows: a matrix to hidden and one back,
 * and no last norm. */
static void opt(const struct model_facts *facts, struct model_shape *shape)
{
	int64_t words = table_size(facts->vocab, facts->embedding);
	int64_t positions =
		table_size(facts->positions + OPT_OFFSET, facts->hidden);
	bool is_projected = facts->embedding != facts->hidden;
	int64_t projection =
		is_projected ? table_size(facts->embedding, facts->hidden) : 0;

	shape_biased_layers(facts, shape, 2, false);
	shape->embedding = count_add(words, count_add(positions, projection));
	shape->head = count_add(projection, facts->is_tied ? 0 : words);
	shape->other = is_projected ? 0 : 2 * facts->hidden;
}

/* Tables and their norm; the pooler is what stands at the end. */
static void bert(const struct model_facts *facts, struct model_shape *shape)
{
	int64_t rows = facts->vocab + facts->positions + facts->token_types;

	shape_biased_layers(facts, shape, 2, false);
	shape->embedding =
		count_add(table_size(rows, facts->hidden), 2 * facts->hidden);
	shape->head = count_add(table_size(facts->hidden, facts->hidden),
				facts->hidden);
}

/* A patch goes through a matrix with a bias; one token more is the class.
 * DINOv2 has a token for masked patches, two scales in a layer, and judges by
 * the class beside the average. */
static void vit(const struct model_facts *facts, struct model_shape *shape)
{
	int64_t side = facts->image / facts->patch;
	int64_t pixels = count_mul(facts->channels,
				   count_mul(facts->patch, facts->patch));
	int64_t rows = count_add(pixels, count_add(count_mul(side, side), 3));

	int64_t scales = facts->has_layer_scale ? 1 : 0;

	shape_biased_layers(facts, shape, 2, false);
	shape->stacks[0].vectors += 2 * scales * facts->hidden;
	shape->embedding = table_size(count_add(rows, scales), facts->hidden);
	shape->head =
		count_add(table_size(facts->classes,
				     count_mul(facts->hidden, 1 + scales)),
			  facts->classes);
	shape->other = 2 * facts->hidden;
}

/* No biases; a decoder's layer has two attentions. */
static void t5(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *encoder = shape_stack(shape, facts->layers);
	struct layer_stack *decoder = shape_stack(shape, facts->decoder_layers);

	encoder->vectors = 2 * facts->hidden;
	stack_attention(encoder, facts);
	stack_mlp(encoder, facts->hidden, facts->ffn, facts->is_gated);
	decoder->vectors = 3 * facts->hidden;
	stack_attention(decoder, facts);
	stack_copies(decoder, 0, 2, 2);
	stack_mlp(decoder, facts->hidden, facts->ffn, facts->is_gated);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = 2 * (T5_BUCKETS * facts->heads + facts->hidden);
}

/* RMSNorms have no bias. */
static void llama_ends(const struct model_facts *facts,
		       struct model_shape *shape)
{
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = facts->hidden;
}

static struct layer_stack *llama_stack(const struct model_facts *facts,
				       struct model_shape *shape,
				       int64_t layers)
{
	struct layer_stack *stack = shape_stack(shape, layers);

	stack->vectors = facts->layer_norms * facts->hidden;
	stack_attention(stack, facts);
	return stack;
}

static void llama(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = llama_stack(facts, shape, facts->layers);

	stack_mlp(stack, facts->hidden, facts->ffn, true);
	llama_ends(facts, shape);
}

static void experts_add(struct layer_stack *stack,
			const struct model_facts *facts)
{
	size_t first = stack->linear_count;

	stack_mlp(stack, facts->hidden, facts->expert_ffn, true);
	stack_copies(stack, first, facts->experts, facts->experts_per_token);
	for (size_t i = first; i < stack->linear_count; i++) {
		stack->linears[i].is_expert = true;
		stack->linears[i].has_bias = facts->has_mlp_bias;
	}
	if (facts->shared_ffn)
		stack_mlp(stack, facts->hidden, facts->shared_ffn, true);
}

static void moe(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack =
		llama_stack(facts, shape, facts->layers - facts->dense_layers);

	experts_add(stack, facts);
	stack_linear(stack, 0, facts->hidden, facts->experts)->has_bias =
		facts->has_mlp_bias;
	/* How much of the shared experts: one number for each token. */
	if (facts->shared_ffn && !facts->has_plain_shared)
		stack_linear(stack, 0, facts->hidden, 1);
	if (facts->dense_layers) {
		stack = llama_stack(facts, shape, facts->dense_layers);
		stack_mlp(stack, facts->hidden, facts->ffn, true);
	}
	llama_ends(facts, shape);
}

/* Compressed attention: queries maybe, keys and values always go through a
 * narrow middle with a norm. */
static struct layer_stack *mla_stack(const struct model_facts *facts,
				     struct model_shape *shape, int64_t layers)
{
	struct layer_stack *stack = shape_stack(shape, layers);
	int64_t q = count_mul(facts->heads, facts->nope_dim + facts->rope_dim);
	int64_t kv =
		count_mul(facts->heads, facts->nope_dim + facts->value_dim);

	stack->vectors = facts->layer_norms * facts->hidden + facts->q_rank +
			 facts->kv_rank;
	if (facts->q_rank) {
		stack_linear(stack, TARGET_Q, facts->hidden, facts->q_rank);
		stack_linear(stack, TARGET_Q, facts->q_rank, q);
	} else {
		stack_linear(stack, TARGET_Q, facts->hidden, q);
	}
	stack_linear(stack, TARGET_K, facts->hidden,
		     facts->kv_rank + facts->rope_dim);
	stack_linear(stack, TARGET_V, facts->kv_rank, kv);
	stack_linear(stack, TARGET_O, count_mul(facts->heads, facts->value_dim),
		     facts->hidden);
	return stack;
}

/* The router is a plain tensor there, which nothing quantises. */
static void deepseek(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack =
		mla_stack(facts, shape, facts->layers - facts->dense_layers);

	experts_add(stack, facts);
	stack->vectors = count_add(stack->vectors,
				   table_size(facts->experts, facts->hidden));
	if (facts->dense_layers) {
		stack = mla_stack(facts, shape, facts->dense_layers);
		stack_mlp(stack, facts->hidden, facts->ffn, true);
	}
	llama_ends(facts, shape);
}

/* The larger ones have a norm for attention and one for the MLP. */
static void falcon(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = shape_stack(shape, facts->layers);

	stack->vectors = 2 * facts->layer_norms * facts->hidden;
	stack_fused_attention(stack, facts);
	stack_mlp(stack, facts->hidden, facts->ffn, false);
	if (facts->has_mlp_bias)
		stack_biases(stack);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = 2 * facts->hidden;
}

static void bloom(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, true);
	shape->embedding = count_add(table_size(facts->vocab, facts->hidden),
				     2 * facts->hidden);
	shape->head = shape_head(facts);
	shape->other = 2 * facts->hidden;
}

static void gptj(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = shape_stack(shape, facts->layers);

	stack->vectors = count_add(3 * facts->hidden, facts->ffn);
	stack_attention(stack, facts);
	stack_mlp(stack, facts->hidden, facts->ffn, false);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = count_add(shape_head(facts), facts->vocab);
	shape->other = 2 * facts->hidden;
}

static void distilbert(const struct model_facts *facts,
		       struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, false);
	shape->embedding = count_add(
		table_size(facts->vocab + facts->positions, facts->hidden),
		2 * facts->hidden);
}

/* Distances have a table, of twice as many rows as there are buckets, and its
 * norm; queries and keys of all layers share it. */
static void deberta(const struct model_facts *facts, struct model_shape *shape)
{
	shape_biased_layers(facts, shape, 2, false);
	shape->embedding = count_add(table_size(facts->vocab, facts->hidden),
				     2 * facts->hidden);
	shape->other = count_add(table_size(facts->positions, facts->hidden),
				 2 * facts->hidden);
}

/* Everything but keys has a bias. */
static struct layer_stack *whisper_stack(const struct model_facts *facts,
					 struct model_shape *shape,
					 int64_t layers, int64_t attentions)
{
	struct layer_stack *stack = shape_stack(shape, layers);

	stack_attention(stack, facts);
	for (size_t i = 0; i < stack->linear_count; i++) {
		stack->linears[i].has_bias =
			stack->linears[i].targets != TARGET_K;
		stack->linears[i].copies = attentions;
		stack->linears[i].active = attentions;
	}
	stack_mlp(stack, facts->hidden, facts->ffn, false);
	stack->vectors = count_add(2 * (attentions + 1) * facts->hidden,
				   count_add(facts->ffn, facts->hidden));
	return stack;
}

/* Two convolutions of three samples before the encoder; it and the decoder
 * end in a norm. */
static void whisper(const struct model_facts *facts, struct model_shape *shape)
{
	int64_t convolved = count_add(3 * facts->channels, 3 * facts->hidden);
	int64_t rows = count_add(facts->decoder_positions, facts->vocab);

	(void)whisper_stack(facts, shape, facts->layers, 1);
	(void)whisper_stack(facts, shape, facts->decoder_layers, 2);
	shape->embedding = table_size(rows, facts->hidden);
	shape->other =
		count_add(table_size(count_add(convolved, facts->positions),
				     facts->hidden),
			  6 * facts->hidden);
}

/* Tables as OPT's, and a norm behind each. */
static void bart(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *decoder;
	int64_t rows = 2 * (facts->positions + OPT_OFFSET) + 4;

	shape_biased_layers(facts, shape, 2, false);
	decoder = shape_stack(shape, facts->decoder_layers);
	decoder->vectors = 6 * facts->hidden;
	stack_attention(decoder, facts);
	stack_copies(decoder, 0, 2, 2);
	stack_mlp(decoder, facts->hidden, facts->ffn, false);
	stack_biases(decoder);
	shape->embedding =
		table_size(count_add(facts->vocab, rows), facts->hidden);
	shape->head = shape_head(facts);
}

/* The inner width stands in ffn. Beside its matrices a layer has a convolution,
 * the decay of each state, a skip, the bias of the step, a norm. */
static void mamba(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = shape_stack(shape, facts->layers);
	int64_t inner = facts->ffn;
	int64_t each = count_add(facts->kernel, facts->state) + 3;

	stack_linear(stack, TARGET_UP, facts->hidden, 2 * inner);
	stack_linear(stack, 0, inner,
		     count_add(facts->step_rank, 2 * facts->state));
	stack_linear(stack, 0, facts->step_rank, inner);
	stack_linear(stack, TARGET_DOWN, inner, facts->hidden);
	stack->vectors = count_add(count_mul(inner, each), facts->hidden);
	shape->embedding = table_size(facts->vocab, facts->hidden);
	shape->head = shape_head(facts);
	shape->other = facts->hidden;
}

/* One layer that holds everything, nearly all of it in matrices. Of those that
 * adapters go to only the sides count. */
static void counted(const struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = shape_stack(shape, 1);

	stack->unshaped = facts->parameters;
	if (facts->adapted)
		stack_linear(stack, TARGETS_ATTENTION, facts->adapted, 0);
}

/* As one layer as well. */
static void conv(const struct model_facts *facts, struct model_shape *shape)
{
	conv_count(facts, &shape->conv);
	shape_stack(shape, 1)->vectors = shape->conv.parameters;
}

typedef void shape_fn(const struct model_facts *facts,
		      struct model_shape *shape);

void shape_family(const struct model_facts *facts, struct model_shape *shape)
{
	static shape_fn *const shapes[MODEL_FAMILIES] = {
		[MODEL_GPT2] = gpt2,       [MODEL_LLAMA] = llama,
		[MODEL_PHI] = phi,         [MODEL_NEOX] = neox,
		[MODEL_OPT] = opt,         [MODEL_BERT] = bert,
		[MODEL_T5] = t5,           [MODEL_VIT] = vit,
		[MODEL_MOE] = moe,         [MODEL_DEEPSEEK] = deepseek,
		[MODEL_FALCON] = falcon,   [MODEL_BLOOM] = bloom,
		[MODEL_GPTJ] = gptj,       [MODEL_DISTILBERT] = distilbert,
		[MODEL_DEBERTA] = deberta, [MODEL_WHISPER] = whisper,
		[MODEL_MAMBA] = mamba,     [MODEL_COUNTED] = counted,
		[MODEL_CONV] = conv,       [MODEL_GPTNEO] = gptneo,
		[MODEL_BART] = bart,
	};

	shapes[facts->family](facts, shape);
}

/* Experts go one after the other: one of them has its part of the tokens, where
 * all have as many. */
int64_t mlp_at_work(const struct layer_stack *stack)
{
	int64_t width = 0;

	for (size_t i = 0; i < stack->linear_count; i++) {
		const struct linear *linear = &stack->linears[i];
		int64_t all = count_mul(linear->in, linear->active);

		if (linear->targets & TARGET_DOWN)
			width = count_most(width,
					   count_share(all, linear->copies));
	}
	return width;
}

/* Width of the MLP that a token goes through: with all its experts. */
int64_t mlp_width(const struct layer_stack *stack)
{
	int64_t width = 0;

	for (size_t i = 0; i < stack->linear_count; i++) {
		const struct linear *linear = &stack->linears[i];

		if (linear->targets & TARGET_DOWN)
			width = count_add(
				width, count_mul(linear->in, linear->active));
	}
	return width;
}
