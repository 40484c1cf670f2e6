/* The likely family of a model of which only numbers are known. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_family.h"

/* Plain MLPs of four times the width: GPT-2; anything else: Llama. */
static enum model_family guess(const struct model_facts *facts)
{
	if (facts->kv_rank)
		return MODEL_DEEPSEEK;
	if (facts->experts)
		return MODEL_MOE;
	if (facts->patch)
		return MODEL_VIT;
	if (facts->decoder_layers)
		return MODEL_T5;
	if (facts->kv_heads || facts->is_gated ||
	    (facts->ffn && facts->ffn != 4 * facts->hidden))
		return MODEL_LLAMA;
	return MODEL_GPT2;
}

enum model_family estimate_family(const struct model_facts *facts,
				  struct strlist *assumed)
{
	enum model_family family;

	if (facts->family != MODEL_UNKNOWN)
		return facts->family;
	if (!facts->layers && !facts->hidden) {
		strlist_add(assumed, "the shape of a Llama of that size");
		return MODEL_UNKNOWN;
	}
	family = guess(facts);
	strlist_addf(assumed, "the family %s (--family names another)",
		     model_family_name(family));
	return family;
}
