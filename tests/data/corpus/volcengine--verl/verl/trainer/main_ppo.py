# Stands in for fine-tuning and reinforcement learning by Hydra.
# SPDX-License-Identifier: MIT
import hydra
import ray


@hydra.main(config_path="config", config_name="ppo_trainer")
def main(config):
    if not ray.is_initialized():
        ray.init()
    ray.get(task.remote(config))


@ray.remote
def task(config):
    per_gpu = config.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu
    mini = config.actor_rollout_ref.actor.ppo_mini_batch_size
    assert mini % (per_gpu * config.trainer.n_gpus_per_node) == 0


if __name__ == "__main__":
    main()
