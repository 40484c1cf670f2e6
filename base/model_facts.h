/* Facts about a model: the numbers that its memory follows from. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_MODEL_FACTS_H
#define AUTOFIT_BASE_MODEL_FACTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the layers are built; which tensors they have follows from it. */
enum model_family {
	MODEL_UNKNOWN,
	MODEL_GPT2,  /* learned positions, GELU, biases */
	MODEL_LLAMA, /* RMSNorm, gated; Mistral, Qwen, Gemma, Phi-3 too */
	MODEL_PHI,   /* parallel block, one norm, head with bias */
	MODEL_NEOX,  /* Pythia */
	MODEL_OPT,
	MODEL_BERT, /* encoder with pooler; RoBERTa */
	MODEL_T5,   /* encoder and decoder */
	MODEL_VIT,
	MODEL_MOE,        /* MODEL_LLAMA with experts: Mixtral, Qwen-MoE */
	MODEL_DEEPSEEK,   /* experts and compressed attention (MLA) */
	MODEL_FALCON,     /* parallel block without biases, few heads of keys */
	MODEL_BLOOM,      /* MODEL_GPT2 without positions, normed embedding */
	MODEL_GPTJ,       /* parallel block, attention without biases */
	MODEL_DISTILBERT, /* no pooler, no token types */
	MODEL_DEBERTA,    /* relative positions in a table of their own */
	MODEL_WHISPER,    /* encoder of sound, decoder of text */
	MODEL_MAMBA,      /* state space layers, no attention */
	MODEL_GPTNEO,     /* MODEL_GPT2 without biases of q, k and v */
	MODEL_BART,       /* encoder and decoder, learned positions of both */
	MODEL_COUNTED,    /* diffusion, towers: numbers as counted */
	MODEL_CONV,       /* convolutions, step by step */
	MODEL_FAMILIES,
};

/* A layer of a network of convolutions, or a block of them: configs/models/
 * config/model_steps.c has their words, estimator/nets/conv_steps.c what they
 * are. */
enum conv_kind {
	CONV_NORMED, /* convolution, batch norm, ReLU */
	CONV_SWISH,  /* SiLU or ReLU6 in its place */
	CONV_BIASED, /* CONV_NORMED with a bias */
	CONV_PLAIN,  /* with a bias, without a norm */
	CONV_MAX,    /* pooling; size is its kernel */
	CONV_BASIC,  /* ResNet's block of two, and of three */
	CONV_BOTTLE,
	CONV_INVERTED, /* MobileNetV2 */
	CONV_THIN,     /* MobileNetV3, with ReLU and with hard swish */
	CONV_HARD,
	CONV_MOBILE,  /* EfficientNet */
	CONV_FUSED,   /* EfficientNetV2 */
	CONV_PATCHES, /* ConvNeXt's first layer, its blocks, and between them */
	CONV_NEXT,
	CONV_DOWN,
	CONV_DENSE, /* DenseNet's layers, and between them */
	CONV_TRANSITION,
	CONV_END,  /* a norm and ReLU */
	CONV_POOL, /* an average; size is the side that is left */
	CONV_FULL, /* a matrix and ReLU */
	CONV_HEAD, /* an average of all, a matrix to the classes */
	CONV_NORMED_HEAD,
	CONV_KINDS,
};

struct conv_step {
	enum conv_kind kind;
	int32_t size;    /* channels that come out */
	int32_t repeat;  /* blocks, the first of which has the stride */
	int32_t kernel;  /* pixels along its side */
	int32_t stride;  /* pixels from one result to the next */
	int32_t padding; /* where has_padding; else half the kernel */
	int32_t inner;   /* CONV_BOTTLE, _THIN, _HARD: channels in the middle */
	int32_t squeeze; /* of those: channels of squeeze and excitation */
	int32_t groups;
	int32_t expand; /* CONV_INVERTED and the like: times as wide inside */
	bool has_padding;
};

#define CONV_STEPS_MAX 24

/*
 * Counts; 0: not known, or the model has none of it. Bytes only where a name
 * says so.
 */
struct model_facts {
	enum model_family family;
	int64_t layers;         /* encoder and decoder: of the encoder */
	int64_t decoder_layers; /* MODEL_T5 */
	int64_t hidden;         /* h */
	int64_t heads;          /* a: of queries */
	int64_t kv_heads;       /* k */
	int64_t head_dim;       /* dh */
	int64_t ffn;            /* f: of dense layers */
	int64_t vocab;          /* v: rows of the embedding */
	int64_t positions;      /* learned ones */
	int64_t token_types;    /* MODEL_BERT */
	int64_t embedding;      /* MODEL_OPT: width of the embedding */
	int64_t layer_norms;    /* of one layer: 2; Gemma 2: 4 */
	int64_t experts, experts_per_token, expert_ffn;
	int64_t shared_ffn;   /* of what every token goes through */
	int64_t dense_layers; /* without experts, the first of them */
	int64_t q_rank, kv_rank, nope_dim, rope_dim, value_dim; /* MLA */
	int64_t image, patch, channels, classes;                /* VIT */
	int64_t window; /* sliding attention; 0: all */
	/* Towers for images or sound beside the language model, with what joins
	 * them to it: counted in the weights, in no activation. */
	int64_t tower;
	int64_t decoder_positions;        /* WHISPER */
	int64_t state, step_rank, kernel; /* MAMBA */
	/* COUNTED: elements that are kept of one sample for the backward pass,
	 * at its usual size. */
	int64_t activations;
	/* COUNTED: inputs and outputs of the matrices that adapters go to. */
	int64_t adapted;
	struct conv_step steps[CONV_STEPS_MAX]; /* CONV */
	size_t step_count;
	bool is_tied;  /* the head is the embedding */
	bool is_gated; /* three matrices in an MLP */
	bool has_qkv_bias, has_out_bias, has_qk_norm;
	bool has_wide_norms;   /* q and k are normed over all heads at once */
	bool has_mlp_bias;     /* in MLP, router and experts */
	bool has_sinks;        /* a number for each head */
	bool has_plain_shared; /* shared experts without a gate of their own */
	bool has_layer_scale;  /* DINOv2: of attention and MLP; a mask token */
	/*
	 * Counted in the weights themselves, or as the user says: wins over
	 * what follows from the numbers above; 0: not known.
	 */
	int64_t parameters;
	int64_t stored_bytes; /* of the weights as they lie on the disk */
	char name[128];       /* "meta-llama/Llama-3.1-8B"; "" */
	char dtype[16];       /* "bfloat16" that it is stored in; "" */
	/* What a training file says of the run beside the model; 0: nothing. */
	int64_t run_batch, run_sequence;
	/* What the file holds that none of these numbers does, for a reader. */
	char unread[160];
};

/* A field by the name that files, options and messages use. */
struct model_field {
	const char *name; /* "hidden" */
	size_t offset;
	bool is_flag; /* bool, else int64_t */
	int64_t most; /* more is a mistake */
	const char *help;
};

/* Ends with a name of NULL. */
extern const struct model_field model_fields[];

/* For messages: those that can be counted. */
#define MODEL_FAMILY_NAMES                                                     \
	"gpt2, llama, phi, neox, opt, bert, t5, vit, moe, deepseek, falcon, "  \
	"bloom, gptj, distilbert, deberta, whisper, mamba, gptneo, bart, "     \
	"counted"

const char *model_family_name(enum model_family family);
/* It predicts words: there are logits, and a cache to generate with. */
bool model_family_has_words(enum model_family family);
/* An encoder, and a decoder that looks at it: T5, Whisper, BART. */
bool model_family_has_decoder(enum model_family family);
/* -EINVAL: none is called so. */
int model_family_parse(const char *name, enum model_family *family);

/* Empty, with the flags that models of the family have if nothing is said. */
void model_facts_init(struct model_facts *facts, enum model_family family);
/*
 * What is not known yet and follows from the rest, as in Hugging Face's
 * configuration classes: as many kv_heads as heads, head_dim = hidden / heads,
 * two norms, the ffn of GPT-2, the embedding of OPT and so on.
 */
void model_facts_complete(struct model_facts *facts);

/* A count by its name: -ENOENT: no such field; -ERANGE: below 0, above most. */
int model_facts_set(struct model_facts *facts, const char *name, int64_t value,
		    struct error *err);
/*
 * What is set fits together: kv_heads divide heads, a family has what it is
 * built of. -EINVAL names the field that is missing or wrong, and what would
 * do. parameters alone is enough for a family that is not known.
 */
int model_facts_check(const struct model_facts *facts, struct error *err);

#endif
