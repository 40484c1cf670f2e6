# Stands in for score-based generation with settings of ml_collections.
# SPDX-License-Identifier: MIT
import ml_collections


def get_default_configs():
    config = ml_collections.ConfigDict()
    config.training = training = ml_collections.ConfigDict()
    config.training.batch_size = 128
    training.n_iters = 1300001
    training.snapshot_freq = 50000
    config.eval = evaluate = ml_collections.ConfigDict()
    evaluate.batch_size = 1024
    evaluate.num_samples = 50000
    return config
