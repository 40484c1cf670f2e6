# Stands in for score-based generation with settings of ml_collections.
# SPDX-License-Identifier: MIT
import run_lib
from absl import app, flags
from ml_collections.config_flags import config_flags

FLAGS = flags.FLAGS
config_flags.DEFINE_config_file("config", None, "Training configuration.",
                                lock_config=True)
flags.DEFINE_string("workdir", None, "Work directory.")
flags.DEFINE_enum("mode", None, ["train", "eval"], "Running mode")
flags.DEFINE_string("eval_folder", "eval", "The folder of evaluation")


def main(argv):
    if FLAGS.mode == "train":
        run_lib.train(FLAGS.config, FLAGS.workdir)
    elif FLAGS.mode == "eval":
        run_lib.evaluate(FLAGS.config, FLAGS.workdir, FLAGS.eval_folder)


if __name__ == "__main__":
    app.run(main)
