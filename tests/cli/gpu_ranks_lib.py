# Ranks of torchrun, each with a simulated GPU.
# SPDX-License-Identifier: MIT
import os

import lib

SIM = os.path.join(os.environ["BUILD"], "sim")
PYTHON = "/usr/bin/python3"
SIZES = ("--batch-size", "2", "--grad-accum", "24")


class Ranks(lib.Place):
    def __init__(self, world, script, python=PYTHON):
        super().__init__("ranks")
        self.world, self.python = world, python
        self.script = os.path.join(lib.DATA, script)
        self.env.update(
            LD_LIBRARY_PATH=SIM, AUTOFIT_SIM_STATE=self.path("devices"),
            AUTOFIT_SIM_DEVICES=";".join(["Card:4G:100M:100M"] * world),
            OMP_NUM_THREADS="1")  # fmt: skip

    def tune(self, *arguments, options=(), sizes=SIZES):
        # The errors of ranks go to files, as clusters have it. In words that
        # every version takes: 1.13 cannot read the default under Python 3.11.
        return self.run(
            "tune", "--allow-writes", self.folder, "--confirm-steps", "3",
            *options, "--", self.python, "-m", "torch.distributed.run",
            "--nnodes", "1", "--rdzv_backend", "c10d", "--rdzv_endpoint",
            "localhost:0", "--rdzv_id", "ranks", "--nproc_per_node",
            str(self.world), "--redirects", "2", "--tee", "1", self.script,
            *sizes, "--steps", "30", *arguments)  # fmt: skip
