# Stands in for diffusion under accelerate with settings of ml_collections.
# SPDX-License-Identifier: MIT
import ml_collections


def d(**kwargs):
    return ml_collections.ConfigDict(initial_dictionary=kwargs)


def get_config():
    config = ml_collections.ConfigDict()
    config.seed = 1234
    config.train = d(
        n_steps=500000,
        batch_size=128,
        mode="uncond",
        log_interval=10,
    )
    config.sample = d(
        n_samples=50000,
        mini_batch_size=500,
    )
    return config
