"""The works with PyTorch's DataLoader: images through Pillow (torchvision) and through OpenCV."""

import sys

import numpy as np
import torch
from timing import growth, rate, show
from torch.utils.data import DataLoader, Dataset

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class OpenCvImages(Dataset):
    """The same transform as torchvision's, written with OpenCV and NumPy."""

    def __init__(self, folder):
        from torchvision.datasets import ImageFolder

        self.samples = ImageFolder(f"{folder}/jpeg").samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        import cv2
        from torchvision.transforms import RandomResizedCrop

        path, label = self.samples[index]
        pixels = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
        box = RandomResizedCrop.get_params(torch.empty(3, *pixels.shape[:2]), (0.08, 1.0), (3 / 4, 4 / 3))
        top, left, height, width = box
        pixels = cv2.resize(pixels[top : top + height, left : left + width], (224, 224))
        if torch.rand(1) < 0.5:
            pixels = pixels[:, ::-1]
        values = (pixels.astype(np.float32) / 255 - np.float32(MEAN)) / np.float32(STD)
        return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1))), label


def pillow_images(folder):
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    steps = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
             transforms.Normalize(MEAN, STD)]  # fmt: skip
    return ImageFolder(f"{folder}/jpeg", transforms.Compose(steps))


class Digits(Dataset):
    def __init__(self, folder):
        data = np.fromfile(f"{folder}/mnist/train-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 1, 28, 28)
        self.images = torch.from_numpy(data.copy())
        self.labels = torch.from_numpy(np.fromfile(f"{folder}/mnist/train-labels-idx1-ubyte", np.uint8)[8:].copy())

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index].float(), self.labels[index].int()


class PythonRows(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        total = 0
        for i in range(5000):
            total += i & 7
        return np.full((32, 32), index, dtype=np.float32) + total


def passes(dataset, batch, workers, shuffle):
    loader = DataLoader(dataset, batch, shuffle=shuffle, num_workers=workers, persistent_workers=workers > 0)

    def epoch():
        for _ in loader:
            pass

    return epoch


if __name__ == "__main__":
    work, folder, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if work == "jpeg":
        made = {"pillow": pillow_images(folder), "opencv": OpenCvImages(folder)}
        show({name: rate(passes(data, 64, workers, True), len(data), 1) for name, data in made.items()})
    elif work == "mnist":
        data = Digits(folder)
        show({f"{n} workers": rate(passes(data, 64, n, True), len(data), 1) for n in (0, workers)})
    elif work == "pyfunc":
        show({"": rate(passes(PythonRows(), 32, workers, False), 4000)})
    elif work == "memory":
        show({"": growth(passes(OpenCvImages(folder), 64, workers, True))})
    else:
        show({})
