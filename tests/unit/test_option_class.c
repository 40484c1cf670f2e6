/* What an option is shows in the words of its name, however it is spelled. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/text/option_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct class_row {
	enum option_class class;
	const char *names; /* with a blank between them */
};

static const struct class_row class_rows[] = {
	{ OPTION_MICRO,
	  "--device-batch-size --bsz_per_gpu --per-gpu-bs "
	  "--per_device_bsz --batchPerGpu --batch-per-rank "
	  "--micro_bs --microBatch --micro-bsz --microbatchsize "
	  "--train_mbs --mbs_per_gpu --ubatch --ubatch_size "
	  "--local_bs --local-bsz --localBatchSize --gpu_batch "
	  "--gpu-bs --bs-gpu --batch-gpu --batch_size_gpu "
	  "--rank_batch_size --batch_size_per_card --bs_per_proc "
	  "--per_process_batch --batchsize_per_device "
	  "--per-replica-bs --per_core_batch_size --tpu_batch_size "
	  "--train_batch_size_per_worker --samples_per_gpu "
	  "--imgs-per-gpu --images_per_device --ims_per_rank "
	  "--seqs_per_gpu --sentences-per-device --clips_per_gpu "
	  "--num_samples_per_gpu --physical_batch_size "
	  "--sub_batch_size --per-accelerator-batch-size "
	  "--batch_per_device train.micro_bs trainer.device_batch "
	  "data.loader.batch_size_per_gpu --each_gpu_batch_size "
	  "--bs_each_gpu --per_chip_bs --microbatch --micro_batch "
	  "--micro-batch-sz --minibatch_per_gpu "
	  "--trainMicroBatchSizePerGpu --batch_size_per_process "
	  "--perdevicebatchsize --batch_per_npu --hpu_bs" },
	{ OPTION_GLOBAL,
	  "--total_bs --global-bs --globalBatchSize --total_batch "
	  "--effective_batch_size --eff_bs --overall-batch-size "
	  "--total-train-batch-size --gbs --train_gbs --tot_bs "
	  "--aggregate_batch --logical_batch_size --globalbatchsize "
	  "--totalbs --batch_size_total --batch-global --bs_total "
	  "--global_train_bsz --target_batch_size "
	  "--virtual_batch_size --desired_batch_size "
	  "trainer.global_bs data.total_batch_size --combined_bs "
	  "--batch_size_all_gpus --whole_batch_size --glob_batch "
	  "--batch_across_all_ranks" },
	{ OPTION_ACCUM,
	  "--grad-acc-steps gradAccumSteps "
	  "trainer.accumulate_grad_batches --batches-per-allreduce "
	  "--num_microbatches --ga_steps --grad-accumulation "
	  "--grad_accumulation_steps --accumulate --acc_steps "
	  "--accum-grad-batches --grad_accum_every --accumulation "
	  "--accum_batches --accumulate-steps --accumulation-iters "
	  "--acc_iter --acc-iters --accu_steps --gacc --gaccum "
	  "--gradaccum --n_accum --num_accum_steps --grad_acc "
	  "--grad-accu-steps --gradient_acc "
	  "--gradient-accumulate-every --n_grad_accum "
	  "--gradAccumulationSteps --grad_accum_freq --accum_factor "
	  "--batches_per_step --batches-per-update "
	  "--backward_passes_per_step --micro_steps "
	  "--num_micro_batches --nMicroBatches --microbatches "
	  "--n_microbatches --accumulate_n --accumulation_factor "
	  "--accum_count --times_accumulate --grad_accumulate "
	  "--accum_grad_iter --accum_every --acc_batches --acc_grad "
	  "--steps_to_accumulate --iters_to_accumulate "
	  "--accumulate_gradients --accumulated_batches "
	  "--accumulating-steps --acumulation_steps "
	  "--gradientaccumulationsteps --gradaccumsteps train.accum "
	  "optim.grad_acc_steps train.ga --optimizer_accumulation "
	  "--opt_accum_steps --update_accum_steps "
	  "--num_batches_per_step --train_accum_iter --ga_iters "
	  "--gas_steps --accum_steps_per_update "
	  "--accumulation_cycles --accum_interval --num_ga" },
	{ OPTION_BATCH, "--bsize --train_bs --trainBatchSize --trainbsz "
			"--batch_sz --batchsz --train_batch --batch_train "
			"--bs_train --dataset_batch_size --loader_bs data.bs "
			"--mini_batch --minibatch_size --minibatchsize "
			"--dataloader_batch --training_batch_size "
			"--imgs_per_batch --sequences_per_batch "
			"--samples_per_batch cfg.train.bsz --hp_bs "
			"--my_batch_size --dist_batch_size --model_batch "
			"--default_batch_size --ddp_bs optimizer.batch_size "
			"--BATCH_SIZE --BatchSize --bsTrain batch.size" },
	{ OPTION_MICRO_NODE, "--bs_per_node --batch_per_host --node_batch_size "
			     "--hostBatchSize --batch_size_per_machine "
			     "--samples_per_node --per-node-bs" },
	{ OPTION_DECOY,
	  "--eval_bs --top1_acc --best_acc --val-bs --valBatchSize --validbsz "
	  "--test_batch --test-bs-per-gpu --gen_batch_size "
	  "--eval_accumulation_steps --batch_norm --batchnorm "
	  "--bn_batch --sync_batch_norm --batch_first "
	  "--drop_last_batch --log_batch --save_batch --batch_idx "
	  "--infer_bs --inference-batch --pred_batch_size "
	  "--rampup_batch_size --batch_size_increment "
	  "--auto_batch_size --lr_batch --batch_size_multiple "
	  "--batches_per_epoch --batch_sampler --prefetch_batches "
	  "--batch_log_interval --grad_accum_dtype "
	  "--gradient_accumulation_fusion --eval.batch_size "
	  "val_loader.bs data.test.batch_size sample.per_proc_batch_size "
	  "dataset.validation.batch_size --preprocessing_batch_size "
	  "--encoding_bs --benchmark_batch --batch_mode "
	  "--batch_name --dev_batch_size --rollout_batch_size "
	  "--decode_bsz --batch_size_scheduler --mem_batch "
	  "--batch_file --tokenizer_batch_size" },
	{ OPTION_OTHER,
	  "--num_batches --n_batches --batches --num_workers "
	  "--image_size --img-size --accuracy --acc "
	  "--abs --lr --epochs --max_steps --gpus "
	  "--num_gpus --gpu --grad_clip --max_grad_norm --gamma "
	  "--jobs --obs --use_obs --steps_per_epoch --log_every "
	  "--target_acc --access_key --warmup_steps --steps --iters "
	  "--device --per_gpu --peripheral --garden --galore "
	  "--grad_checkpointing --gradient_clip_val --micro "
	  "--permute --percent --dropout_per_layer --subset --subs "
	  "--accelerator --accelerate --account --bzip --tabs "
	  "--batman" },
	{ OPTION_BATCH_LIKE,
	  "--disc_batch_size --text_bs --unlabeled-batch-size "
	  "--labeled_bs --max_batch --num_batch --n_batch "
	  "--image_batch_size --replay_batch --batch_split "
	  "--ppo_batch_size --critic_bs --batch_ratio --batch2 "
	  "--total_batch_size_per_gpu" },
	{ OPTION_ACCUM_LIKE,
	  "--accum_bs --accumulation_batch_size "
	  "--use_gradient_accumulation --enable_accum "
	  "--no_accumulate --total_accum_steps --accum_tokens "
	  "--accum_mb --noise_accum --accum_size --micro_num "
	  "--num-micro" },
};

static const char *class_words(enum option_class class)
{
	static const char *const words[] = {
		"other",  "decoy", "batch",      "micro",      "micro_node",
		"global", "accum", "batch_like", "accum_like",
	};

	return words[class];
}

static void test_names(void **state)
{
	size_t wrong = 0, count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(class_rows) / sizeof(*class_rows); i++) {
		const char *name = class_rows[i].names;

		while (*name) {
			size_t length = strcspn(name, " ");
			enum option_class found = option_class_of(name, length);

			count++;
			if (found != class_rows[i].class) {
				print_error("%.*s: %s, not %s\n", (int)length,
					    name, class_words(found),
					    class_words(class_rows[i].class));
				wrong++;
			}
			name += length + (name[length] == ' ');
		}
	}
	assert_int_equal(wrong, 0);
	assert_true(count >= 200);
}

/* Names come from scripts: any bytes, any length. */
static void test_any_bytes(void **state)
{
	static const char *const names[] = {
		"",        "-",           "--",
		"batch",   ".",           "....",
		"a.b.",    ".batch_size", "batch_size=8",
		"=",       "\xff\xfe",    "b\xc3\xa4tch",
		"1batch1", "batch\tsize",
	};
	char long_name[400];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		(void)option_class_of(names[i], strlen(names[i]));
	memset(long_name, 'b', sizeof(long_name));
	assert_int_equal(option_class_of(long_name, sizeof(long_name)),
			 OPTION_OTHER);
	for (size_t i = 0; i < sizeof(long_name); i++)
		long_name[i] = "bs_"[i % 3];
	assert_int_equal(option_class_of(long_name, 399), OPTION_BATCH_LIKE);
	assert_int_equal(option_class_of("batch_size_of_gpu", 10),
			 OPTION_BATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
