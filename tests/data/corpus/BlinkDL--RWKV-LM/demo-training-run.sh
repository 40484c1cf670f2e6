#!/bin/bash
# SPDX-License-Identifier: MIT
MODEL_TYPE="x070"
N_LAYER="12"
N_EMBD="768"
CTX_LEN="512"
PROJ_DIR="out/L"$N_LAYER"-D"$N_EMBD"-"$MODEL_TYPE
# !!! change magic_prime if you change ctx_len !!!
M_BSZ="16"
LR_INIT="6e-4"
N_NODE=1
GPU_PER_NODE=2
DS_BUCKET_MB=2

python train.py --load_model "0" --proj_dir $PROJ_DIR \
 --ctx_len $CTX_LEN --num_nodes $N_NODE --micro_bsz $M_BSZ \
 --n_layer $N_LAYER --n_embd $N_EMBD \
 --accelerator gpu --devices $GPU_PER_NODE --strategy deepspeed_stage_2
