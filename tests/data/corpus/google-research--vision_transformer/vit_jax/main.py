# Stands in for a classifier on JAX whose batch is split into pieces.
# SPDX-License-Identifier: MIT
from absl import app, flags
from ml_collections import config_flags
from vit_jax import train

FLAGS = flags.FLAGS
_WORKDIR = flags.DEFINE_string("workdir", None, "Directory of logs.")
_CONFIG = config_flags.DEFINE_config_file("config", None, "Configuration.",
                                          lock_config=True)
flags.mark_flags_as_required(["config", "workdir"])


def main(argv):
    train.train_and_evaluate(_CONFIG.value, _WORKDIR.value)


if __name__ == "__main__":
    app.run(main)
