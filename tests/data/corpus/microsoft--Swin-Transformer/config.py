# Stands in for an image classifier with settings in yacs.
# SPDX-License-Identifier: MIT
from yacs.config import CfgNode as CN

_C = CN()
_C.BASE = [""]
_C.DATA = CN()
# Batch size for a single GPU, could be overwritten by command line argument
_C.DATA.BATCH_SIZE = 128
_C.TRAIN = CN()
_C.TRAIN.EPOCHS = 300
# Gradient accumulation steps
_C.TRAIN.ACCUMULATION_STEPS = 1


def get_config(args):
    config = _C.clone()
    config.merge_from_file(args.cfg)
    if args.opts:
        config.merge_from_list(args.opts)
    if args.batch_size:
        config.DATA.BATCH_SIZE = args.batch_size
    if args.accumulation_steps:
        config.TRAIN.ACCUMULATION_STEPS = args.accumulation_steps
    config.freeze()
    return config
