/* Models from config.json, and what is said of wrong files. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "tests/unit/model_sample.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* 24 layers of 1024 with an MLP of 4096, one patch of a pixel, a norm, and a
 * matrix to the 4096 of the language model. */
#define LLAVA_TOWER                                                            \
	INT64_C(24) * (4 * 1024 * 1024 + 8 * 1024 + 2 * 1024 * 4096 + 4096 +   \
		       1024) +                                                 \
		1024 + INT64_C(2) * 1024 + INT64_C(1025) * 4096

/* What the files of the hub say, without keys that count nothing. */
static const struct {
	const char *text;
	int64_t parameters;
	enum model_family family;
	bool is_tied;
} config_rows[] = {
	{ "{\"model_type\": \"gpt2\", "
	  "\"architectures\": [\"GPT2LMHeadModel\"], \"n_ctx\": 1024, "
	  "\"n_embd\": 768, \"n_head\": 12, \"n_layer\": 12, "
	  "\"n_positions\": 1024, \"vocab_size\": 50257}",
	  INT64_C(124439808), MODEL_GPT2, true },
	{ "{\"model_type\": \"gpt2\", \"n_embd\": 1600, \"n_head\": 25, "
	  "\"n_inner\": null, \"n_layer\": 48, \"n_positions\": 1024, "
	  "\"vocab_size\": 50257}",
	  INT64_C(1557611200), MODEL_GPT2, true },
	{ "{\"model_type\": \"llama\", \"hidden_size\": 4096, "
	  "\"intermediate_size\": 11008, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"vocab_size\": 32000}",
	  INT64_C(6738415616), MODEL_LLAMA, false },
	{ "{\"architectures\": [\"LlamaForCausalLM\"], "
	  "\"hidden_size\": 4096, \"intermediate_size\": 11008, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"num_key_value_heads\": 32, "
	  "\"tie_word_embeddings\": false, \"vocab_size\": 32000}",
	  INT64_C(6738415616), MODEL_LLAMA, false },
	{ "{\"model_type\": \"llama\", \"attention_bias\": false, "
	  "\"hidden_size\": 4096, \"intermediate_size\": 14336, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"num_key_value_heads\": 8, "
	  "\"tie_word_embeddings\": false, \"vocab_size\": 128256}",
	  INT64_C(8030261248), MODEL_LLAMA, false },
	{ "{\"model_type\": \"llama\", \"head_dim\": 64, "
	  "\"hidden_size\": 2048, \"intermediate_size\": 8192, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 16, "
	  "\"num_key_value_heads\": 8, "
	  "\"tie_word_embeddings\": true, \"vocab_size\": 128256}",
	  INT64_C(1235814400), MODEL_LLAMA, true },
	{ "{\"model_type\": \"mistral\", \"hidden_size\": 4096, "
	  "\"intermediate_size\": 14336, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"num_key_value_heads\": 8, \"sliding_window\": 4096, "
	  "\"vocab_size\": 32000}",
	  INT64_C(7241732096), MODEL_LLAMA, false },
	{ "{\"model_type\": \"qwen2\", \"hidden_size\": 896, "
	  "\"intermediate_size\": 4864, \"num_attention_heads\": 14, "
	  "\"num_hidden_layers\": 24, \"num_key_value_heads\": 2, "
	  "\"sliding_window\": 32768, \"tie_word_embeddings\": true, "
	  "\"use_sliding_window\": false, \"vocab_size\": 151936}",
	  INT64_C(494032768), MODEL_LLAMA, true },
	{ "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
	  "\"intermediate_size\": 18944, "
	  "\"num_attention_heads\": 28, \"num_hidden_layers\": 28, "
	  "\"num_key_value_heads\": 4, \"vocab_size\": 152064}",
	  INT64_C(7615616512), MODEL_LLAMA, false },
	{ "{\"model_type\": \"qwen3\", \"attention_bias\": false, "
	  "\"head_dim\": 128, \"hidden_size\": 4096, "
	  "\"intermediate_size\": 12288, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 36, "
	  "\"num_key_value_heads\": 8, \"vocab_size\": 151936}",
	  INT64_C(8190735360), MODEL_LLAMA, false },
	{ "{\"model_type\": \"gemma\", \"head_dim\": 256, "
	  "\"hidden_size\": 2048, \"intermediate_size\": 16384, "
	  "\"num_attention_heads\": 8, \"num_hidden_layers\": 18, "
	  "\"num_key_value_heads\": 1, \"vocab_size\": 256000}",
	  INT64_C(2506172416), MODEL_LLAMA, true },
	{ "{\"architectures\": [\"Gemma2ForCausalLM\"], "
	  "\"model_type\": \"gemma2\", \"head_dim\": 256, "
	  "\"hidden_size\": 2304, \"intermediate_size\": 9216, "
	  "\"num_attention_heads\": 8, \"num_hidden_layers\": 26, "
	  "\"num_key_value_heads\": 4, \"sliding_window\": 4096, "
	  "\"vocab_size\": 256000}",
	  INT64_C(2614341888), MODEL_LLAMA, true },
	{ "{\"model_type\": \"gemma3_text\", \"head_dim\": 256, "
	  "\"hidden_size\": 1152, \"intermediate_size\": 6912, "
	  "\"num_attention_heads\": 4, \"num_hidden_layers\": 26, "
	  "\"num_key_value_heads\": 1, \"vocab_size\": 262144}",
	  INT64_C(999885952), MODEL_LLAMA, true },
	{ "{\"model_type\": \"phi3\", \"hidden_size\": 3072, "
	  "\"intermediate_size\": 8192, \"num_attention_heads\": 32, "
	  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
	  "\"vocab_size\": 32064}",
	  INT64_C(3821079552), MODEL_LLAMA, false },
	{ "{\"model_type\": \"phi\", \"hidden_size\": 2560, "
	  "\"intermediate_size\": 10240, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"num_key_value_heads\": null, \"vocab_size\": 51200}",
	  INT64_C(2779683840), MODEL_PHI, false },
	{ "{\"model_type\": \"gpt_neox\", \"hidden_size\": 4096, "
	  "\"intermediate_size\": 16384, "
	  "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
	  "\"max_position_embeddings\": 2048, "
	  "\"tie_word_embeddings\": false, \"vocab_size\": 50432}",
	  INT64_C(6857302016), MODEL_NEOX, false },
	{ "{\"model_type\": \"gpt_neo\", "
	  "\"architectures\": [\"GPTNeoForCausalLM\"], "
	  "\"hidden_size\": 2048, \"intermediate_size\": null, "
	  "\"max_position_embeddings\": 2048, \"num_heads\": 16, "
	  "\"num_layers\": 24, \"vocab_size\": 50257}",
	  INT64_C(1315575808), MODEL_GPTNEO, true },
	{ "{\"architectures\": [\"GPTNeoForCausalLM\"], "
	  "\"hidden_size\": 768, \"max_position_embeddings\": 2048, "
	  "\"num_heads\": 12, \"num_layers\": 12, "
	  "\"vocab_size\": 50257}",
	  INT64_C(125198592), MODEL_GPTNEO, true },
	{ "{\"model_type\": \"bart\", \"d_model\": 768, "
	  "\"decoder_attention_heads\": 12, \"decoder_ffn_dim\": 3072, "
	  "\"decoder_layers\": 6, \"encoder_attention_heads\": 12, "
	  "\"encoder_ffn_dim\": 3072, \"encoder_layers\": 6, "
	  "\"max_position_embeddings\": 1024, \"num_hidden_layers\": 6, "
	  "\"vocab_size\": 50265}",
	  INT64_C(139420416), MODEL_BART, true },
	{ "{\"architectures\": [\"BartForConditionalGeneration\"], "
	  "\"d_model\": 1024, \"decoder_layers\": 12, "
	  "\"encoder_attention_heads\": 16, "
	  "\"encoder_ffn_dim\": 4096, \"encoder_layers\": 12, "
	  "\"max_position_embeddings\": 1024, \"vocab_size\": 50264}",
	  INT64_C(406290432), MODEL_BART, true },
	{ "{\"model_type\": \"dinov2\", \"hidden_size\": 768, "
	  "\"image_size\": 518, \"mlp_ratio\": 4, "
	  "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
	  "\"patch_size\": 14, \"use_swiglu_ffn\": false}",
	  INT64_C(86580480), MODEL_VIT, false },
	{ "{\"architectures\": [\"Dinov2ForImageClassification\"], "
	  "\"model_type\": \"dinov2\", \"hidden_size\": 768, "
	  "\"image_size\": 518, \"num_attention_heads\": 12, "
	  "\"num_hidden_layers\": 12, \"num_labels\": 1000, "
	  "\"patch_size\": 14}",
	  INT64_C(88117480), MODEL_VIT, false },
	{ "{\"model_type\": \"dinov2\", \"hidden_size\": 1536, "
	  "\"image_size\": 518, \"mlp_ratio\": 4, "
	  "\"num_attention_heads\": 24, \"num_hidden_layers\": 40, "
	  "\"use_swiglu_ffn\": true}",
	  INT64_C(1136480768), MODEL_VIT, false },
	{ "{\"model_type\": \"opt\", \"ffn_dim\": 3072, "
	  "\"hidden_size\": 768, \"max_position_embeddings\": 2048, "
	  "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
	  "\"vocab_size\": 50272, \"word_embed_proj_dim\": 768}",
	  INT64_C(125239296), MODEL_OPT, true },
	{ "{\"model_type\": \"opt\", \"ffn_dim\": 4096, "
	  "\"hidden_size\": 1024, \"max_position_embeddings\": 2048, "
	  "\"num_attention_heads\": 16, \"num_hidden_layers\": 24, "
	  "\"vocab_size\": 50272, \"word_embed_proj_dim\": 512}",
	  INT64_C(331196416), MODEL_OPT, true },
	{ "{\"model_type\": \"bert\", \"hidden_size\": 768, "
	  "\"intermediate_size\": 3072, "
	  "\"max_position_embeddings\": 512, "
	  "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
	  "\"type_vocab_size\": 2, \"vocab_size\": 30522}",
	  INT64_C(109482240), MODEL_BERT, true },
	{ "{\"model_type\": \"roberta\", \"hidden_size\": 768, "
	  "\"intermediate_size\": 3072, "
	  "\"max_position_embeddings\": 514, "
	  "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
	  "\"type_vocab_size\": 1, \"vocab_size\": 50265}",
	  INT64_C(124645632), MODEL_BERT, true },
	{ "{\"model_type\": \"t5\", \"d_ff\": 2048, \"d_kv\": 64, "
	  "\"d_model\": 512, \"num_heads\": 8, \"num_layers\": 6, "
	  "\"vocab_size\": 32128}",
	  INT64_C(60506624), MODEL_T5, true },
	{ "{\"model_type\": \"t5\", \"d_ff\": 2048, \"d_kv\": 64, "
	  "\"d_model\": 768, \"feed_forward_proj\": \"gated-gelu\", "
	  "\"num_decoder_layers\": 12, \"num_heads\": 12, "
	  "\"num_layers\": 12, \"tie_word_embeddings\": false, "
	  "\"vocab_size\": 32128}",
	  INT64_C(247577856), MODEL_T5, false },
	{ "{\"model_type\": \"vit\", "
	  "\"architectures\": [\"ViTForImageClassification\"], "
	  "\"hidden_size\": 768, \"image_size\": 224, "
	  "\"intermediate_size\": 3072, \"num_attention_heads\": 12, "
	  "\"num_hidden_layers\": 12, \"patch_size\": 16, "
	  "\"num_labels\": 1000}",
	  INT64_C(86567656), MODEL_VIT, false },
	{ "{\"model_type\": \"vit\", "
	  "\"architectures\": [\"ViTForImageClassification\"], "
	  "\"hidden_size\": 768, \"intermediate_size\": 3072, "
	  "\"num_attention_heads\": 12, \"num_hidden_layers\": 12, "
	  "\"id2label\": {\"0\": \"cat\", \"1\": \"dog\"}}",
	  INT64_C(85800194), MODEL_VIT, false },
	{ "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, "
	  "\"intermediate_size\": 14336, "
	  "\"num_attention_heads\": 32, \"num_experts_per_tok\": 2, "
	  "\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
	  "\"num_local_experts\": 8, \"sliding_window\": null, "
	  "\"vocab_size\": 32000}",
	  INT64_C(46702792704), MODEL_MOE, false },
	{ "{\"model_type\": \"qwen2_moe\", \"decoder_sparse_step\": 1, "
	  "\"hidden_size\": 2048, \"intermediate_size\": 5632, "
	  "\"moe_intermediate_size\": 1408, "
	  "\"num_attention_heads\": 16, \"num_experts\": 60, "
	  "\"num_experts_per_tok\": 4, \"num_hidden_layers\": 24, "
	  "\"num_key_value_heads\": 16, "
	  "\"shared_expert_intermediate_size\": 5632, "
	  "\"vocab_size\": 151936}",
	  INT64_C(14315784192), MODEL_MOE, false },
	{ "{\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 1, "
	  "\"head_dim\": 128, \"hidden_size\": 2048, "
	  "\"intermediate_size\": 6144, \"mlp_only_layers\": [], "
	  "\"moe_intermediate_size\": 768, "
	  "\"num_attention_heads\": 32, \"num_experts\": 128, "
	  "\"num_experts_per_tok\": 8, \"num_hidden_layers\": 48, "
	  "\"num_key_value_heads\": 4, \"vocab_size\": 151936}",
	  INT64_C(30532122624), MODEL_MOE, false },
	{ "{\"model_type\": \"deepseek_v2\", "
	  "\"first_k_dense_replace\": 1, \"hidden_size\": 2048, "
	  "\"intermediate_size\": 10944, \"kv_lora_rank\": 512, "
	  "\"moe_intermediate_size\": 1408, "
	  "\"n_routed_experts\": 64, \"n_shared_experts\": 2, "
	  "\"num_attention_heads\": 16, \"num_experts_per_tok\": 6, "
	  "\"num_hidden_layers\": 27, \"num_key_value_heads\": 16, "
	  "\"q_lora_rank\": null, \"qk_nope_head_dim\": 128, "
	  "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
	  "\"vocab_size\": 102400}",
	  INT64_C(15706484224), MODEL_DEEPSEEK, false },
	{ "{\"model_type\": \"deepseek_v3\", "
	  "\"first_k_dense_replace\": 3, \"hidden_size\": 7168, "
	  "\"intermediate_size\": 18432, \"kv_lora_rank\": 512, "
	  "\"moe_intermediate_size\": 2048, "
	  "\"n_routed_experts\": 256, \"n_shared_experts\": 1, "
	  "\"num_attention_heads\": 128, \"num_experts_per_tok\": 8, "
	  "\"num_hidden_layers\": 61, "
	  "\"num_nextn_predict_layers\": 1, \"q_lora_rank\": 1536, "
	  "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
	  "\"v_head_dim\": 128, \"vocab_size\": 129280}",
	  INT64_C(671026404352), MODEL_DEEPSEEK, false },
	{ "{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"num"
	  "_hidden_layers\": 32, \"num_attention_heads\": 71, \"m"
	  "ulti_query\": true, \"new_decoder_architecture\": fal"
	  "se, \"bias\": false, \"vocab_size\": 65024, \"parallel_"
	  "attn\": true}",
	  INT64_C(6921720704), MODEL_FALCON, true },
	{ "{\"model_type\": \"falcon\", \"hidden_size\": 8192, \"num"
	  "_hidden_layers\": 60, \"num_attention_heads\": 128, \""
	  "num_kv_heads\": 8, \"multi_query\": true, \"new_decode"
	  "r_architecture\": true, \"bias\": false, \"vocab_size\""
	  ": 65024}",
	  INT64_C(41303293952), MODEL_FALCON, true },
	{ "{\"model_type\": \"bloom\", \"n_embed\": 1024, \"n_layer\""
	  ": 24, \"num_attention_heads\": 16, \"vocab_size\": 250"
	  "880}",
	  INT64_C(559214592), MODEL_BLOOM, true },
	{ "{\"model_type\": \"gptj\", \"n_embd\": 4096, \"n_head\": 1"
	  "6, \"n_inner\": null, \"n_layer\": 28, \"n_positions\": "
	  "2048, \"vocab_size\": 50400}",
	  INT64_C(6050882784), MODEL_GPTJ, false },
	{ "{\"model_type\": \"distilbert\", \"dim\": 768, \"hidden_d"
	  "im\": 3072, \"n_heads\": 12, \"n_layers\": 6, \"max_posi"
	  "tion_embeddings\": 512, \"vocab_size\": 30522}",
	  INT64_C(66362880), MODEL_DISTILBERT, true },
	{ "{\"model_type\": \"deberta-v2\", \"hidden_size\": 768, \""
	  "intermediate_size\": 3072, \"num_attention_heads\": 1"
	  "2, \"num_hidden_layers\": 12, \"max_position_embeddin"
	  "gs\": 512, \"position_buckets\": 256, \"type_vocab_siz"
	  "e\": 0, \"vocab_size\": 128100}",
	  INT64_C(183831552), MODEL_DEBERTA, true },
	{ "{\"model_type\": \"whisper\", \"d_model\": 1280, \"encode"
	  "r_layers\": 32, \"decoder_layers\": 32, \"encoder_atte"
	  "ntion_heads\": 20, \"decoder_attention_heads\": 20, \""
	  "encoder_ffn_dim\": 5120, \"decoder_ffn_dim\": 5120, \""
	  "num_mel_bins\": 128, \"max_source_positions\": 1500, "
	  "\"max_target_positions\": 448, \"vocab_size\": 51866, "
	  "\"num_hidden_layers\": 32}",
	  INT64_C(1543490560), MODEL_WHISPER, true },
	{ "{\"model_type\": \"mamba\", \"hidden_size\": 768, \"inter"
	  "mediate_size\": 1536, \"num_hidden_layers\": 24, \"sta"
	  "te_size\": 16, \"conv_kernel\": 4, \"time_step_rank\": "
	  "48, \"vocab_size\": 50280}",
	  INT64_C(129135360), MODEL_MAMBA, true },
	{ "{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"he"
	  "ad_dim\": 64, \"intermediate_size\": 2880, \"num_atten"
	  "tion_heads\": 64, \"num_key_value_heads\": 8, \"num_hi"
	  "dden_layers\": 24, \"num_local_experts\": 32, \"num_ex"
	  "perts_per_tok\": 4, \"experts_per_token\": 4, \"attent"
	  "ion_bias\": true, \"vocab_size\": 201088, \"tie_word_e"
	  "mbeddings\": false}",
	  INT64_C(20914757184), MODEL_MOE, false },
	{ "{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"he"
	  "ad_dim\": 64, \"intermediate_size\": 2880, \"num_atten"
	  "tion_heads\": 64, \"num_key_value_heads\": 8, \"num_hi"
	  "dden_layers\": 36, \"num_local_experts\": 128, \"num_e"
	  "xperts_per_tok\": 4, \"attention_bias\": true, \"vocab"
	  "_size\": 201088, \"tie_word_embeddings\": false}",
	  INT64_C(116829156672), MODEL_MOE, false },
	{ "{\"model_type\": \"llama4_text\", \"num_local_experts\":"
	  " 16, \"interleave_moe_layer_step\": 1, \"hidden_size\""
	  ": 5120, \"head_dim\": 128, \"intermediate_size\": 8192"
	  ", \"intermediate_size_mlp\": 16384, \"num_attention_h"
	  "eads\": 40, \"num_key_value_heads\": 8, \"num_hidden_l"
	  "ayers\": 48, \"num_experts_per_tok\": 1, \"vocab_size\""
	  ": 202048, \"tie_word_embeddings\": false}",
	  INT64_C(107769861120), MODEL_MOE, false },
	{ "{\"model_type\": \"llama4_text\", \"num_local_experts\":"
	  " 128, \"interleave_moe_layer_step\": 2, \"hidden_size"
	  "\": 5120, \"head_dim\": 128, \"intermediate_size\": 819"
	  "2, \"intermediate_size_mlp\": 16384, \"num_attention_"
	  "heads\": 40, \"num_key_value_heads\": 8, \"num_hidden_"
	  "layers\": 48, \"num_experts_per_tok\": 1, \"vocab_size"
	  "\": 202048, \"tie_word_embeddings\": false}",
	  INT64_C(400711848960), MODEL_MOE, false },
	{ "{\"model_type\": \"olmo2\", \"hidden_size\": 4096, \"inte"
	  "rmediate_size\": 11008, \"num_attention_heads\": 32, "
	  "\"num_key_value_heads\": 32, \"num_hidden_layers\": 32"
	  ", \"vocab_size\": 100352, \"tie_word_embeddings\": fal"
	  "se, \"attention_bias\": false}",
	  INT64_C(7298617344), MODEL_LLAMA, false },
	{ "{\"model_type\": \"olmo2\", \"hidden_size\": 5120, \"inte"
	  "rmediate_size\": 27648, \"num_attention_heads\": 40, "
	  "\"num_key_value_heads\": 8, \"num_hidden_layers\": 64,"
	  " \"vocab_size\": 100352, \"tie_word_embeddings\": fals"
	  "e}",
	  INT64_C(32234279936), MODEL_LLAMA, false },
	{ "{\"model_type\": \"phi3\", \"hidden_size\": 5120, \"inter"
	  "mediate_size\": 17920, \"num_attention_heads\": 40, \""
	  "num_key_value_heads\": 10, \"num_hidden_layers\": 40,"
	  " \"vocab_size\": 100352, \"tie_word_embeddings\": fals"
	  "e}",
	  INT64_C(14659507200), MODEL_LLAMA, false },
	{ "{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"inter"
	  "mediate_size\": 8192, \"num_attention_heads\": 24, \"n"
	  "um_key_value_heads\": 8, \"num_hidden_layers\": 32, \""
	  "vocab_size\": 200064, \"tie_word_embeddings\": true}",
	  INT64_C(3836021760), MODEL_LLAMA, true },
	{ "{\"model_type\": \"qwen3_moe\", \"hidden_size\": 4096, \""
	  "head_dim\": 128, \"intermediate_size\": 12288, \"moe_i"
	  "ntermediate_size\": 1536, \"num_attention_heads\": 64"
	  ", \"num_key_value_heads\": 4, \"num_hidden_layers\": 9"
	  "4, \"num_experts\": 128, \"num_experts_per_tok\": 8, \""
	  "decoder_sparse_step\": 1, \"mlp_only_layers\": [], \"v"
	  "ocab_size\": 151936, \"tie_word_embeddings\": false}",
	  INT64_C(235093634560), MODEL_MOE, false },
	{ "{\"model_type\": \"qwen3\", \"hidden_size\": 2560, \"head"
	  "_dim\": 128, \"intermediate_size\": 9728, \"num_attent"
	  "ion_heads\": 32, \"num_key_value_heads\": 8, \"num_hid"
	  "den_layers\": 36, \"vocab_size\": 151936, \"tie_word_e"
	  "mbeddings\": true}",
	  INT64_C(4022468096), MODEL_LLAMA, true },
	{ "{\"model_type\": \"mistral\", \"hidden_size\": 5120, \"he"
	  "ad_dim\": 128, \"intermediate_size\": 14336, \"num_att"
	  "ention_heads\": 32, \"num_key_value_heads\": 8, \"num_"
	  "hidden_layers\": 40, \"sliding_window\": null, \"vocab"
	  "_size\": 131072, \"tie_word_embeddings\": false}",
	  INT64_C(12247782400), MODEL_LLAMA, false },
	{ "{\"model_type\": \"gemma2\", \"hidden_size\": 4608, \"hea"
	  "d_dim\": 128, \"intermediate_size\": 36864, \"num_atte"
	  "ntion_heads\": 32, \"num_key_value_heads\": 16, \"num_"
	  "hidden_layers\": 46, \"vocab_size\": 256000}",
	  INT64_C(27227128320), MODEL_LLAMA, true },
	{ "{\"model_type\": \"llava\", "
	  "\"architectures\": [\"LlavaForConditionalGeneration\"], "
	  "\"text_config\": {\"model_type\": \"llama\", "
	  "\"max_position_embeddings\": 4096, "
	  "\"vocab_size\": 32064}, "
	  "\"vision_config\": {\"hidden_size\": 1024, "
	  "\"num_hidden_layers\": 24}}",
	  INT64_C(6738939904) + LLAVA_TOWER, MODEL_LLAMA, false },
};

static void a_config_gives_exact_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(config_rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		if (sample_read_text("config.json", config_rows[i].text, &facts,
				     &err) < 0)
			fail_msg("%s: %s", config_rows[i].text, err.message);
		if (sample_parameters(&facts) != config_rows[i].parameters)
			fail_msg("%s: %lld", config_rows[i].text,
				 (long long)sample_parameters(&facts));
		assert_int_equal(facts.family, config_rows[i].family);
		assert_int_equal(facts.is_tied, config_rows[i].is_tied);
		assert_int_equal(facts.parameters, 0);
	}
}

static void what_else_a_config_says(void **state)
{
	static const char text[] =
		"{\"model_type\": \"mistral\", \"hidden_size\": 4096, "
		"\"intermediate_size\": 14336, \"num_attention_heads\": 32, "
		"\"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
		"\"sliding_window\": 4096, \"vocab_size\": 32000, "
		"\"torch_dtype\": \"bfloat16\", \"attention_bias\": true}";
	struct model_facts facts;

	(void)state;
	assert_int_equal(sample_read_text("config.json", text, &facts, NULL),
			 0);
	assert_string_equal(facts.dtype, "bfloat16");
	assert_int_equal(facts.window, 4096);
	assert_int_equal(facts.head_dim, 128);
	assert_int_equal(facts.layer_norms, 2);
	assert_true(facts.is_gated);
	assert_true(facts.has_qkv_bias);
	assert_true(facts.has_out_bias);
}

#define TEXT_AND(tower)                                                        \
	"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": "      \
	"\"gemma3_text\", \"hidden_size\": 2560, \"intermediate_size\": "      \
	"10240, "                                                              \
	"\"num_hidden_layers\": 34, \"num_attention_heads\": 8, "              \
	"\"num_key_value_heads\": 4, \"head_dim\": 256, "                      \
	"\"vocab_size\": 262208}" tower "}"

/* A tower is counted, or it is said that it is not. */
static void towers_are_counted_or_told(void **state)
{
	static const struct {
		const char *text;
		int64_t tower;
		const char *told;
	} rows[] = {
		{ TEXT_AND(""), 0, "" },
		/* The file of gemma-3-4b: 416,866,032 parameters of SigLIP, and
		 * 2,950,272 of what joins it. */
		{ TEXT_AND(", \"vision_config\": {\"hidden_size\": 1152, "
			   "\"image_size\": 896, \"intermediate_size\": 4304, "
			   "\"num_hidden_layers\": 27, \"patch_size\": 14}"),
		  416866032 + 2950272, "about 420 million parameters" },
		{ TEXT_AND(", \"audio_config\": {\"name\": \"ours\"}"), 0,
		  "audio_config: not counted" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct model_facts facts;

		assert_int_equal(sample_read_text("config.json", rows[i].text,
						  &facts, NULL),
				 0);
		assert_true(llabs(facts.tower - rows[i].tower) <=
			    rows[i].tower / 100);
		assert_non_null(strstr(facts.unread, rows[i].told));
	}
}

#define LLAMA_BUT(change)                                                      \
	"{\"model_type\": \"llama\", \"hidden_size\": 4096, "                  \
	"\"intermediate_size\": 11008, \"num_hidden_layers\": 32, "            \
	"\"num_attention_heads\": 32, \"vocab_size\": 32000, " change "}"

static const struct {
	const char *name, *text;
	int code;
	const char *words; /* in the message */
} wrong_rows[] = {
	{ "config.json", "{\"model_type\": \"rwkv\", \"hidden_size\": 768}",
	  -ENOTSUP, "the architecture 'rwkv' is not known: give its param" },
	{ "config.json", "{\"model_type\": \"llama\", \"hidden_size\": 4096}",
	  -EINVAL, "config.json: layers is not known" },
	{ "config.json", LLAMA_BUT("\"hidden_size\": 0"), -EINVAL,
	  "hidden_size is 0, which no model has" },
	{ "config.json", LLAMA_BUT("\"hidden_size\": -1"), -EINVAL,
	  "hidden_size is not a whole number from 0" },
	{ "config.json", LLAMA_BUT("\"hidden_size\": 40.5"), -EINVAL,
	  "hidden_size is not a whole number" },
	{ "config.json", LLAMA_BUT("\"hidden_size\": \"4096\""), -EINVAL,
	  "hidden_size is not a whole number" },
	{ "config.json", LLAMA_BUT("\"vocab_size\": 9999999999"), -ERANGE,
	  "vocab_size: vocab is 9999999999, which is not" },
	{ "config.json",
	  LLAMA_BUT("\"vocab_size\": 99999999999999999999999999"), -EINVAL,
	  "vocab_size is not a whole number" },
	{ "config.json", LLAMA_BUT("\"num_key_value_heads\": 5"), -EINVAL,
	  "heads 32 is no multiple of kv_heads 5" },
	{ "config.json", "[]", -EINVAL, "it is no object of JSON" },
	{ "config.json", "{\n\"model_type\": ", -EINVAL, "config.json:2: not" },
	{ "config.json", "", -EINVAL, "not JSON" },
	{ "m.toml", "layers = 2\nhiden = 8\n", -EINVAL,
	  "m.toml:2: 'hiden' is no field of a model: family, name, dtype" },
	{ "m.toml", "family = \"llama\"\nlayers = 0\n", -EINVAL,
	  "m.toml:2: layers is 0: give a number from 1" },
	{ "m.toml", "layers = -3\n", -ERANGE, "m.toml:1: layers is -3" },
	{ "m.toml", "layers = 1.5\n", -EINVAL, "is not a whole number" },
	{ "m.toml", "hidden = 99999999\n", -ERANGE, "hidden is 99999999" },
	{ "m.toml", "layers = 2\n", -EINVAL,
	  "m.toml: neither the model's parameters nor its family is known" },
	{ "m.toml", "family = \"gpt3\"\n", -EINVAL,
	  "m.toml:1: family: 'gpt3' is none of gpt2, llama" },
	{ "m.toml", "family = \"llama\"\nlayers = 2\n", -EINVAL,
	  "m.toml: hidden is not known" },
	{ "m.yaml", "family: llama\ntied: maybe\n", -EINVAL,
	  "m.yaml:2: tied: 'maybe' is not true or false" },
	{ "m.yaml", "params: many\n", -EINVAL,
	  "m.yaml:1: parameters: 'many' is not a number of parameters" },
	{ "m.yaml", "layers:\n", -EINVAL, "m.yaml:1: layers: '' is not" },
	{ "m.yaml", "family: [1, 2]\n", -EINVAL, "is no field of a model" },
	{ "m.json", "{\"layers\": 2, \"size\": 3}", -EINVAL, "'size' is no" },
	{ "m.ini", "[model]\nfamily = llama\nlayers = x\n", -EINVAL,
	  "m.ini:3: layers: 'x' is not a whole number" },
	{ "m.ini", "[train]\nlayers = 2\n", -EINVAL,
	  "m.ini:2: [train] is no section of a model" },
	{ "m.txt", "layers = 2", -EINVAL, "a model is a folder, or a file" },
	{ "m.py", "layers = 2", -EINVAL, "a model is a folder, or a file" },
};

/* Experts in each second layer, but for one that is listed: of 0 to 3 only the
 * last. */
static void some_layers_have_no_experts(void **state)
{
	static const char text[] =
		"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 64, "
		"\"intermediate_size\": 128, \"moe_intermediate_size\": 16, "
		"\"num_attention_heads\": 4, \"num_hidden_layers\": 4, "
		"\"num_experts\": 4, \"num_experts_per_tok\": 2, "
		"\"vocab_size\": 100, \"decoder_sparse_step\": 2, "
		"\"mlp_only_layers\": [1, 0, 99]}";
	struct model_facts facts;

	(void)state;
	assert_int_equal(sample_read_text("config.json", text, &facts, NULL),
			 0);
	assert_int_equal(facts.dense_layers, 3);
	assert_int_equal(sample_parameters(&facts), 165312);
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;
		int result = sample_read_text(wrong_rows[i].name,
					      wrong_rows[i].text, &facts, &err);

		if (result != wrong_rows[i].code ||
		    !strstr(err.message, wrong_rows[i].words))
			fail_msg("%s: %d %s", wrong_rows[i].text, result,
				 err.message);
		assert_int_equal(result, err.code);
	}
}

/* Brackets without end, and values without number: refused before they are
 * built. */
static void bombs_are_refused(void **state)
{
	const size_t length = (size_t)3 << 20;
	char *text = xmalloc(length + 1);
	struct model_text file = { "config.json", text, length };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	(void)state;
	text[length] = '\0';
	memset(text, '[', length);
	assert_int_equal(model_read_text(&facts, &file, &err), -E2BIG);
	assert_non_null(strstr(err.message, "nests too deep"));
	memset(text + 1, ',', length - 1);
	assert_int_equal(model_read_text(&facts, &file, &err), -E2BIG);
	assert_non_null(strstr(err.message, "too many values"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_config_gives_exact_counts),
		cmocka_unit_test(what_else_a_config_says),
		cmocka_unit_test(towers_are_counted_or_told),
		cmocka_unit_test(some_layers_have_no_experts),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(bombs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
