# Stands in for score-based generation with settings of ml_collections.
# SPDX-License-Identifier: MIT
from configs.default_cifar10_configs import get_default_configs


def get_config():
    config = get_default_configs()
    training = config.training
    training.sde = "vpsde"
    training.continuous = False
    return config
