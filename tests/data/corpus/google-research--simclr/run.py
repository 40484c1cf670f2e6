# Stands in for contrastive training on TensorFlow.
# SPDX-License-Identifier: MIT
import math

import tensorflow as tf
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_float("learning_rate", 0.3, "Initial learning rate per 256.")
flags.DEFINE_integer("train_batch_size", 512, "Batch size for training.")
flags.DEFINE_integer("train_epochs", 100, "Number of epochs to train for.")
flags.DEFINE_string("dataset", "imagenet2012", "Name of a dataset.")
flags.DEFINE_integer("eval_batch_size", 256, "Batch size for eval.")
flags.DEFINE_enum("mode", "train", ["train", "eval", "train_then_eval"],
                  "Whether to perform training or evaluation.")
flags.DEFINE_enum("train_mode", "pretrain", ["pretrain", "finetune"], "")
flags.DEFINE_string("model_dir", None, "Model directory for training.")
flags.DEFINE_bool("use_tpu", True, "Whether to run on TPU.")


def main(argv):
    rows = FLAGS.train_batch_size
    data = tf.data.Dataset.from_tensor_slices(tf.random.normal((4096, 8)))
    model = tf.keras.layers.Dense(8)
    for x in data.batch(rows, drop_remainder=True):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        tape.gradient(loss, model.trainable_variables)


if __name__ == "__main__":
    app.run(main)
