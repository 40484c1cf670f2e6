# Stands in for a classifier on JAX whose batch is split into pieces.
# SPDX-License-Identifier: MIT
import ml_collections


def get_config(model_dataset):
    model, dataset = model_dataset.split(",")
    config = ml_collections.ConfigDict()
    config.accum_steps = 8
    config.batch = 512
    config.batch_eval = 512
    config.total_steps = 10000
    return config
