/* What each step of a network of convolutions counts and keeps. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * Its parameters, and the tensors that autograd saves: the input of every
 * convolution and norm, the result of ReLU, the input of SiLU and GELU
 * (pt:tools/autograd/derivatives.yaml). A tensor that two of them save counts
 * once: where it is made. The blocks are those of torchvision
 * (pytorch/vision:torchvision/models, each NAME.py).
 */
#include "estimator/nets/conv_walk.h"

#include "estimator/nets/count.h"

/* Where pooling took its value from: int64 for each result. */
#define PLACE_BYTES 8

int64_t conv_plane(const struct conv_walk *walk)
{
	return count_mul(walk->channels, count_mul(walk->side, walk->side));
}

static void add_parameters(struct conv_walk *walk, int64_t count)
{
	walk->totals->parameters = count_add(walk->totals->parameters, count);
}

/* So many tensors as large as what comes out now. */
void conv_keep(struct conv_walk *walk, int64_t tensors)
{
	walk->totals->kept = count_add(walk->totals->kept,
				       count_mul(conv_plane(walk), tensors));
}

/* What goes in and comes out are there together, and what is added later. */
static void work_note(struct conv_walk *walk, int64_t in)
{
	int64_t all = count_add(walk->beside, count_add(in, conv_plane(walk)));

	walk->totals->working = count_most(walk->totals->working, all);
}

static void narrow(struct conv_walk *walk, int64_t kernel, int64_t stride,
		   int64_t padding)
{
	int64_t room = walk->side + 2 * padding - kernel;

	if (room < 0)
		walk->totals->is_too_small = true;
	walk->side = room < 0 ? 1 : room / stride + 1;
}

/* A kernel of odd width is padded so that nothing narrows. */
static int64_t padding_of(const struct conv_step *step, int64_t kernel)
{
	return step->has_padding ? step->padding : (kernel - 1) / 2;
}

struct convolution {
	int64_t out, kernel, stride, padding, groups;
	bool has_bias;
};

static void convolve(struct conv_walk *walk, const struct convolution *conv)
{
	int64_t in = conv_plane(walk);
	int64_t each = count_mul(walk->channels / conv->groups,
				 count_mul(conv->kernel, conv->kernel));

	add_parameters(walk,
		       count_mul(conv->out, count_add(each, conv->has_bias)));
	narrow(walk, conv->kernel, conv->stride, conv->padding);
	walk->channels = conv->out;
	work_note(walk, in);
}

static void convolve_point(struct conv_walk *walk, int64_t out)
{
	convolve(walk,
		 &(struct convolution){
			 .out = out, .kernel = 1, .stride = 1, .groups = 1 });
}

/* A weight and a bias of each channel; it keeps what it was given. */
static void norm(struct conv_walk *walk)
{
	add_parameters(walk, count_mul(walk->channels, 2));
	conv_keep(walk, 1);
}

/* Its result. */
static void relu(struct conv_walk *walk)
{
	conv_keep(walk, 1);
}

/* What it was given, and its result, which the next layer reads. So does ReLU6,
 * which is a hardtanh there. */
static void silu(struct conv_walk *walk)
{
	conv_keep(walk, 2);
}

static struct convolution own_convolution(const struct conv_step *step,
					  bool has_bias)
{
	return (struct convolution){ .out = step->size,
				     .kernel = step->kernel,
				     .stride = step->stride,
				     .padding = padding_of(step, step->kernel),
				     .groups = step->groups,
				     .has_bias = has_bias };
}

static void step_conv(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);

	convolve(walk, &conv);
	norm(walk);
	relu(walk);
}

static void step_swish(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);

	convolve(walk, &conv);
	norm(walk);
	silu(walk);
}

/* VGG with norms has biases beside them. */
static void step_biased(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, true);

	convolve(walk, &conv);
	norm(walk);
	relu(walk);
}

static void step_plain(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, true);

	convolve(walk, &conv);
	relu(walk);
}

static void step_max(struct conv_walk *walk, const struct conv_step *step)
{
	narrow(walk, step->size, step->stride, padding_of(step, step->size));
	walk->totals->kept_bytes =
		count_add(walk->totals->kept_bytes,
			  count_mul(conv_plane(walk), PLACE_BYTES));
	conv_keep(walk, 1);
}

/* The input comes to the sum through a convolution where its shape differs. */
static void shortcut(struct conv_walk *walk, int64_t in, int64_t stride)
{
	int64_t out = walk->channels;

	if (stride != 1 || in != out) {
		add_parameters(walk, count_add(count_mul(in, out), 2 * out));
		conv_keep(walk, 1);
	}
	relu(walk);
}

static void step_basic(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);
	int64_t in = walk->channels;

	convolve(walk, &conv);
	norm(walk);
	relu(walk);
	conv.stride = 1;
	convolve(walk, &conv);
	norm(walk);
	shortcut(walk, in, step->stride);
}

/* Squeeze and excitation: two matrices, so narrow between them, say how much of
 * each channel; the product is kept. 0: none. */
static void squeeze(struct conv_walk *walk, int64_t between)
{
	int64_t matrices = count_mul(2 * between, walk->channels);

	if (!between)
		return;
	add_parameters(walk,
		       count_add(matrices, count_add(between, walk->channels)));
	conv_keep(walk, 1);
}

static void step_bottle(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);
	int64_t in = walk->channels;

	convolve_point(walk, step->inner);
	norm(walk);
	relu(walk);
	conv.out = step->inner;
	convolve(walk, &conv);
	norm(walk);
	relu(walk);
	squeeze(walk, step->squeeze);
	convolve_point(walk, step->size);
	norm(walk);
	shortcut(walk, in, step->stride);
}

/* Each channel by itself. */
static void convolve_depth(struct conv_walk *walk, const struct conv_step *step)
{
	convolve(walk, &(struct convolution){
			       .out = walk->channels,
			       .kernel = step->kernel,
			       .stride = step->stride,
			       .padding = padding_of(step, step->kernel),
			       .groups = walk->channels });
}

/* Back to the narrow width; what the next block reads. */
static void project(struct conv_walk *walk, int64_t out)
{
	convolve_point(walk, out);
	norm(walk);
	conv_keep(walk, 1);
}

/* MobileNetV2: widened, each channel by itself, narrowed. */
static void step_inverted(struct conv_walk *walk, const struct conv_step *step)
{
	if (step->expand > 1) {
		convolve_point(walk, walk->channels * step->expand);
		norm(walk);
		silu(walk);
	}
	convolve_depth(walk, step);
	norm(walk);
	silu(walk);
	project(walk, step->size);
}

typedef void conv_activation_fn(struct conv_walk *walk);

static void lean_block(struct conv_walk *walk, const struct conv_step *step,
		       conv_activation_fn *activate)
{
	if (step->inner != walk->channels) {
		convolve_point(walk, step->inner);
		norm(walk);
		activate(walk);
	}
	convolve_depth(walk, step);
	norm(walk);
	activate(walk);
	squeeze(walk, step->squeeze);
	project(walk, step->size);
}

static void step_thin(struct conv_walk *walk, const struct conv_step *step)
{
	lean_block(walk, step, relu);
}

/* hardswish keeps what it was given, as SiLU does. */
static void step_hard(struct conv_walk *walk, const struct conv_step *step)
{
	lean_block(walk, step, silu);
}

/* EfficientNet. */
static void step_mobile(struct conv_walk *walk, const struct conv_step *step)
{
	int64_t in = walk->channels;

	if (step->expand > 1) {
		convolve_point(walk, in * step->expand);
		norm(walk);
		silu(walk);
	}
	convolve_depth(walk, step);
	norm(walk);
	silu(walk);
	squeeze(walk, count_most(in / 4, 1));
	project(walk, step->size);
}

/* EfficientNetV2: both widenings in one. */
static void step_fused(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);

	if (step->expand > 1)
		conv.out = walk->channels * step->expand;
	convolve(walk, &conv);
	norm(walk);
	silu(walk);
	if (step->expand > 1)
		project(walk, step->size);
}

/* ConvNeXt begins with patches, normed. */
static void step_patches(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, true);

	conv.padding = 0;
	conv.stride = conv.kernel;
	convolve(walk, &conv);
	norm(walk);
	conv_keep(walk, 1);
}

/* Each channel by itself, a norm, an MLP four times as wide, a scale. */
static void step_next(struct conv_walk *walk, const struct conv_step *step)
{
	int64_t width = walk->channels;

	convolve_depth(walk, step);
	add_parameters(walk, width);
	norm(walk);
	conv_keep(walk, 1);
	add_parameters(walk, count_mul(count_mul(width, width), 8));
	add_parameters(walk, 6 * width);
	walk->channels = 4 * width;
	silu(walk);
	work_note(walk, conv_plane(walk));
	walk->channels = width;
	conv_keep(walk, 2);
}

static void step_down(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, true);

	conv.padding = 0;
	conv.stride = conv.kernel;
	norm(walk);
	convolve(walk, &conv);
	conv_keep(walk, 1);
}

/* DenseNet: each layer reads all before it, and adds a few channels. */
static void step_dense(struct conv_walk *walk, const struct conv_step *step)
{
	struct convolution conv = own_convolution(step, false);
	int64_t before = walk->channels;

	norm(walk);
	relu(walk);
	convolve_point(walk, INT64_C(4) * step->size);
	norm(walk);
	relu(walk);
	convolve(walk, &conv);
	walk->channels = before + step->size;
}

/* Half the channels, half the side: the average keeps what it was given. */
static void step_transition(struct conv_walk *walk,
			    const struct conv_step *step)
{
	(void)step;
	norm(walk);
	relu(walk);
	convolve_point(walk, count_most(walk->channels / 2, 1));
	conv_keep(walk, 1);
	narrow(walk, 2, 2, 0);
}

static void step_end(struct conv_walk *walk, const struct conv_step *step)
{
	(void)step;
	norm(walk);
	relu(walk);
}

/* An average to a side that is given. */
static void step_pool(struct conv_walk *walk, const struct conv_step *step)
{
	walk->side = step->size;
}

static void matrix(struct conv_walk *walk, int64_t out)
{
	int64_t in = conv_plane(walk);

	conv_keep(walk, 1);
	add_parameters(walk, count_mul(out, count_add(in, 1)));
	walk->channels = out;
	walk->side = 1;
}

static void step_full(struct conv_walk *walk, const struct conv_step *step)
{
	matrix(walk, step->size);
	relu(walk);
}

/* What is left is averaged; a norm of its own in ConvNeXt. */
static void step_head(struct conv_walk *walk, const struct conv_step *step)
{
	(void)step;
	walk->side = 1;
	if (walk->facts->classes)
		matrix(walk, walk->facts->classes);
}

static void step_normed_head(struct conv_walk *walk,
			     const struct conv_step *step)
{
	walk->side = 1;
	norm(walk);
	step_head(walk, step);
}

typedef void conv_step_fn(struct conv_walk *walk, const struct conv_step *step);

static conv_step_fn *const conv_steps[CONV_KINDS] = {
	[CONV_NORMED] = step_conv,
	[CONV_SWISH] = step_swish,
	[CONV_BIASED] = step_biased,
	[CONV_PLAIN] = step_plain,
	[CONV_MAX] = step_max,
	[CONV_BASIC] = step_basic,
	[CONV_BOTTLE] = step_bottle,
	[CONV_INVERTED] = step_inverted,
	[CONV_THIN] = step_thin,
	[CONV_HARD] = step_hard,
	[CONV_MOBILE] = step_mobile,
	[CONV_FUSED] = step_fused,
	[CONV_PATCHES] = step_patches,
	[CONV_NEXT] = step_next,
	[CONV_DOWN] = step_down,
	[CONV_DENSE] = step_dense,
	[CONV_TRANSITION] = step_transition,
	[CONV_END] = step_end,
	[CONV_POOL] = step_pool,
	[CONV_FULL] = step_full,
	[CONV_HEAD] = step_head,
	[CONV_NORMED_HEAD] = step_normed_head,
};

void conv_walk_step(struct conv_walk *walk, const struct conv_step *step)
{
	conv_steps[step->kind](walk, step);
}
