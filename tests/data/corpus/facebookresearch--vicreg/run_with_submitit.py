# Stands in for self-supervised training whose batch is shared by the ranks.
# SPDX-License-Identifier: MIT
import argparse

import main_vicreg as trainer
import submitit

parser = argparse.ArgumentParser(parents=[trainer.get_arguments()])
parser.add_argument("--ngpus", default=8, type=int)
parser.add_argument("--nodes", default=4, type=int)
args = parser.parse_args()
executor = submitit.AutoExecutor(folder=args.exp_dir)
executor.update_parameters(gpus_per_node=args.ngpus, nodes=args.nodes)
executor.submit(trainer.main, args)
