/* The architectures of transformers, and how their config.json calls things. */
/* SPDX-License-Identifier: MIT */
/*
 * From huggingface/transformers, src/transformers/models, each
 * TYPE/configuration_TYPE.py and modeling_TYPE.py.
 */
#include "configs/models/model_hf_table.h"

#include <stddef.h>

/* Longer names of classes stand before those that they begin with. */
const struct hf_architecture hf_architectures[] = {
	{ "gpt2", "GPT2", MODEL_GPT2, HF_TIED },
	{ "llama", "Llama", MODEL_LLAMA, 0 },
	{ "granite", "GraniteFor", MODEL_LLAMA, 0 },
	{ "mistral", "Mistral", MODEL_LLAMA, HF_WINDOW },
	{ "qwen2_moe", "Qwen2Moe", MODEL_MOE, HF_QKV_BIAS },
	{ "qwen3_moe", "Qwen3Moe", MODEL_MOE, HF_QK_NORM },
	{ "qwen2", "Qwen2", MODEL_LLAMA, HF_QKV_BIAS },
	{ "qwen2_vl", "Qwen2VL", MODEL_LLAMA, HF_QKV_BIAS },
	{ "qwen2_vl_text", "Qwen2VLText", MODEL_LLAMA, HF_QKV_BIAS },
	{ "qwen2_5_vl", "Qwen2_5_VL", MODEL_LLAMA, HF_QKV_BIAS },
	{ "qwen2_5_vl_text", "Qwen2_5_VLText", MODEL_LLAMA, HF_QKV_BIAS },
	{ "qwen3", "Qwen3For", MODEL_LLAMA, HF_QK_NORM },
	{ "qwen3_vl_text", "Qwen3VLText", MODEL_LLAMA, HF_QK_NORM },
	{ "gemma2", "Gemma2", MODEL_LLAMA, HF_TIED | HF_FOUR_NORMS },
	{ "gemma3_text", "Gemma3ForCausal", MODEL_LLAMA,
	  HF_TIED | HF_FOUR_NORMS | HF_QK_NORM },
	{ "gemma", "GemmaFor", MODEL_LLAMA, HF_TIED },
	{ "phi3", "Phi3", MODEL_LLAMA, HF_WINDOW },
	{ "phi", "PhiFor", MODEL_PHI, 0 },
	{ "gpt_neox", "GPTNeoXFor", MODEL_NEOX, 0 },
	{ "opt", "OPT", MODEL_OPT, HF_TIED },
	{ "bert", "Bert", MODEL_BERT, HF_TIED },
	{ "roberta", "Roberta", MODEL_BERT, HF_TIED },
	{ "xlm-roberta", "XLMRobertaFor", MODEL_BERT, HF_TIED },
	{ "camembert", "Camembert", MODEL_BERT, HF_TIED },
	{ "t5", "T5", MODEL_T5, HF_TIED },
	{ "mt5", "MT5", MODEL_T5, HF_UNTIED },
	{ "vit", "ViTFor", MODEL_VIT, 0 },
	{ "vit", "ViTModel", MODEL_VIT, 0 },
	{ "mixtral", "Mixtral", MODEL_MOE, HF_WINDOW },
	{ "deepseek_v2", "DeepseekV2", MODEL_DEEPSEEK, 0 },
	{ "deepseek_v3", "DeepseekV3", MODEL_DEEPSEEK, 0 },
	{ "kimi_k2", "DeepseekV3", MODEL_DEEPSEEK, 0 },
	{ NULL, NULL, MODEL_UNKNOWN, 0 },
};

#define BIT(family) (1u << MODEL_##family)
#define ANY ((1u << MODEL_FAMILIES) - 1)
#define GROUPED (BIT(LLAMA) | BIT(MOE) | BIT(UNKNOWN))
#define PLACED (BIT(GPT2) | BIT(OPT) | BIT(BERT))
#define EXPERTS (BIT(MOE) | BIT(DEEPSEEK))
#define MLA BIT(DEEPSEEK)

const struct hf_key hf_keys[] = {
	{ "layers",
	  { "num_hidden_layers", "n_layer", "num_layers", "n_layers" },
	  ANY,
	  false },
	{ "decoder_layers", { "num_decoder_layers" }, BIT(T5), false },
	{ "hidden", { "hidden_size", "n_embd", "d_model", "dim" }, ANY, false },
	{ "heads",
	  { "num_attention_heads", "n_head", "num_heads", "n_heads" },
	  ANY,
	  false },
	{ "kv_heads", { "num_key_value_heads" }, GROUPED, false },
	{ "head_dim", { "head_dim", "d_kv" }, GROUPED | BIT(T5), false },
	{ "ffn",
	  { "intermediate_size", "n_inner", "ffn_dim", "d_ff" },
	  ANY,
	  false },
	{ "vocab", { "vocab_size" }, ANY & ~BIT(VIT), false },
	{ "positions",
	  { "max_position_embeddings", "n_positions", "n_ctx" },
	  PLACED,
	  false },
	{ "token_types", { "type_vocab_size" }, BIT(BERT), true },
	{ "embedding", { "word_embed_proj_dim" }, BIT(OPT), false },
	{ "experts",
	  { "num_local_experts", "num_experts", "n_routed_experts" },
	  EXPERTS,
	  false },
	{ "experts_per_token", { "num_experts_per_tok" }, EXPERTS, false },
	{ "expert_ffn", { "moe_intermediate_size" }, EXPERTS, false },
	{ "shared_ffn", { "shared_expert_intermediate_size" }, BIT(MOE), true },
	{ "dense_layers", { "first_k_dense_replace" }, MLA, true },
	{ "q_rank", { "q_lora_rank" }, MLA, true },
	{ "kv_rank", { "kv_lora_rank" }, MLA, false },
	{ "nope_dim", { "qk_nope_head_dim" }, MLA, false },
	{ "rope_dim", { "qk_rope_head_dim" }, MLA, false },
	{ "value_dim", { "v_head_dim" }, MLA, false },
	{ "image", { "image_size" }, BIT(VIT), false },
	{ "patch", { "patch_size" }, BIT(VIT), false },
	{ "channels", { "num_channels" }, BIT(VIT), false },
	{ NULL, { NULL }, 0, false },
};

/* 0: follows from the others. */
const struct hf_class hf_classes[] = {
	{ "llama", 32, 4096, 32, 0, 0, 11008, 32000 },
	{ "mistral", 32, 4096, 32, 8, 0, 14336, 32000 },
	{ "mixtral", 32, 4096, 32, 8, 0, 14336, 32000 },
	{ "qwen2", 32, 4096, 32, 32, 0, 22016, 151936 },
	{ "qwen2_vl", 80, 8192, 64, 8, 0, 29568, 152064 },
	{ "qwen2_5_vl", 80, 8192, 64, 8, 0, 29568, 152064 },
	{ "qwen3", 32, 4096, 32, 32, 128, 22016, 151936 },
	{ "gemma", 28, 3072, 16, 16, 256, 24576, 256000 },
	{ "gemma2", 26, 2304, 8, 4, 256, 9216, 256000 },
	{ "gemma3_text", 26, 2304, 8, 4, 256, 9216, 262208 },
	{ "phi3", 32, 3072, 32, 0, 0, 8192, 32064 },
	{ NULL, 0, 0, 0, 0, 0, 0, 0 },
};
