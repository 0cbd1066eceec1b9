"""The training steps of `benchmarks/cpu` in TensorFlow, compiled as its users compile them."""

from __future__ import annotations

import tensorflow as tf
from tensorflow import keras

LAYERS, WIDTH, HEADS, WORDS, BATCH, TOKENS = 4, 768, 12, 8192, 4, 128


def training(model, optimizer, x, y):
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(inputs, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(inputs, training=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    return lambda: float(step(x, y))


def resnet50():
    model = keras.applications.ResNet50(weights=None, classifier_activation=None)
    labels = tf.random.uniform((8,), 0, 1000, tf.int32)
    return training(model, keras.optimizers.SGD(0.001, 0.9), tf.random.normal((8, 224, 224, 3)), labels)


def gpt():
    words = keras.Input((TOKENS,), dtype="int32")
    x = keras.layers.Embedding(WORDS, WIDTH)(words)
    for _ in range(LAYERS):
        normed = keras.layers.LayerNormalization()(x)
        mixed = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(normed, normed, use_causal_mask=True)
        x = x + mixed
        wide = keras.layers.Dense(4 * WIDTH, "gelu")(keras.layers.LayerNormalization()(x))
        x = x + keras.layers.Dense(WIDTH)(wide)
    model = keras.Model(words, keras.layers.Dense(WORDS, use_bias=False)(keras.layers.LayerNormalization()(x)))
    tokens = tf.random.uniform((BATCH, TOKENS), 0, WORDS, tf.int32)
    return training(model, keras.optimizers.AdamW(1e-4), tokens, tf.random.uniform((BATCH, TOKENS), 0, WORDS, tf.int32))
