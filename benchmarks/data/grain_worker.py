"""The JPEG work with grain, in worker processes, images through OpenCV."""

import glob
import sys

import cv2
import grain.python as grain
import numpy as np
from timing import rate, show

MEAN = np.float32([0.485 * 255, 0.456 * 255, 0.406 * 255])
STD = np.float32([0.229 * 255, 0.224 * 255, 0.225 * 255])


class Files:
    def __init__(self, folder):
        self.paths = sorted(glob.glob(f"{folder}/jpeg/*/*.jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]


class Crop(grain.RandomMapTransform):
    def random_map(self, path, rng):
        pixels = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        height, width = pixels.shape[:2]
        for _ in range(10):
            area, ratio = height * width * rng.uniform(0.08, 1.0), np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
            w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
            if w <= width and h <= height:
                break
        else:
            w, h = width, height
        x, y = rng.integers(0, width - w + 1), rng.integers(0, height - h + 1)
        pixels = cv2.resize(pixels[y : y + h, x : x + w], (224, 224))
        if rng.random() < 0.5:
            pixels = pixels[:, ::-1]
        return np.ascontiguousarray(((pixels - MEAN) / STD).transpose(2, 0, 1))


if __name__ == "__main__":
    work, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if work != "jpeg":
        show({})
        sys.exit()
    source = Files(folder)

    def epoch():
        sampler = grain.IndexSampler(len(source), grain.ShardOptions(0, 1), shuffle=True, num_epochs=1, seed=0)
        operations = [Crop(), grain.Batch(64, drop_remainder=True)]
        for _ in grain.DataLoader(data_source=source, sampler=sampler, operations=operations, worker_count=workers):
            pass

    show({"": rate(epoch, len(source), 1)})
