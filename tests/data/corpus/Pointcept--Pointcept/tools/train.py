# Stands in for point clouds by a config in Python.
# SPDX-License-Identifier: MIT
from pointcept.engines.defaults import default_argument_parser
from pointcept.engines.defaults import default_config_parser, default_setup
from pointcept.engines.launch import launch


def main_worker(cfg):
    default_setup(cfg).train()


def main():
    args = default_argument_parser().parse_args()
    cfg = default_config_parser(args.config_file, args.options)
    launch(
        main_worker,
        num_gpus_per_machine=args.num_gpus,
        num_machines=args.num_machines,
        cfg=(cfg,),
    )


if __name__ == "__main__":
    main()
