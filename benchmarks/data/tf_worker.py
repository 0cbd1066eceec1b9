"""The works with tf.data."""

import sys

import tensorflow as tf
from timing import growth, rate, show

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


def crop(path):
    content = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(content), tf.zeros([1, 0, 4]), min_object_covered=0.0, aspect_ratio_range=[3 / 4, 4 / 3],
        area_range=[0.08, 1.0], use_image_if_no_bounding_boxes=True)  # fmt: skip
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.resize(tf.io.decode_and_crop_jpeg(content, window, channels=3), (224, 224))
    image = (tf.image.random_flip_left_right(image) - MEAN) / STD
    return tf.transpose(image, (2, 0, 1))


def jpeg(folder, workers):
    files = tf.data.Dataset.list_files(f"{folder}/jpeg/*/*.jpg", shuffle=True)
    return files.map(crop, num_parallel_calls=workers).batch(64, drop_remainder=True).prefetch(2)


def parse(record):
    features = {"data": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    row = tf.io.parse_single_example(record, features)
    return tf.io.decode_raw(row["data"], tf.uint8), row["label"]


def tfrecord(folder, workers):
    return (
        tf.data.TFRecordDataset(f"{folder}/rows.tfrecord").map(parse, num_parallel_calls=workers).batch(256).prefetch(2)
    )


if __name__ == "__main__":
    work, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    tf.config.threading.set_inter_op_parallelism_threads(workers)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if work not in ("jpeg", "tfrecord", "memory"):
        show({})
        sys.exit()
    data = tfrecord(folder, workers) if work == "tfrecord" else jpeg(folder, workers)
    counted = [0]

    def epoch():
        counted[0] = sum(batch[0].shape[0] if work == "tfrecord" else batch.shape[0] for batch in data)

    if work == "memory":
        show({"": growth(epoch)})
    else:
        epoch()
        show({"": rate(epoch, counted[0])})
