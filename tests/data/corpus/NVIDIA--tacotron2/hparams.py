# Stands in for speech synthesis whose sizes are in another module.
# SPDX-License-Identifier: MIT
from text import HParams


def create_hparams(hparams_string=None):
    hparams = HParams(
        epochs=500,
        iters_per_checkpoint=1000,
        distributed_run=False,
        learning_rate=1e-3,
        batch_size=64,
        mask_padding=True,
    )
    if hparams_string:
        hparams.parse(hparams_string)
    return hparams
