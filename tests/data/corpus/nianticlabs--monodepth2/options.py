# Stands in for depth by options in a class of another module.
# SPDX-License-Identifier: MIT
import argparse


class MonodepthOptions:
    def __init__(self):
        self.parser = argparse.ArgumentParser(description="Monodepthv2")
        self.parser.add_argument("--model_name", type=str, default="mdp")
        self.parser.add_argument("--split", type=str, default="eigen_zhou")
        self.parser.add_argument("--frame_ids", nargs="+", type=int,
                                 default=[0, -1, 1])
        self.parser.add_argument("--use_stereo", action="store_true")
        self.parser.add_argument("--batch_size", type=int, default=12,
                                 help="batch size")
        self.parser.add_argument("--num_epochs", type=int, default=20)

    def parse(self):
        return self.parser.parse_args()
