"""What the PyTorch rivals share: LeNet, the writers' digits, local SGD."""
import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from writers import images, writers

TARGET, CLIENTS, PER_ROUND, EPOCHS, BATCH, RATE = 0.97, 1000, 100, 5, 10, 0.1


def network():
    return nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
                         nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def load():
    """Training images and labels, the writers' parts, test images and labels."""
    x, y = images("train")
    test_x, test_y = images("t10k")
    return (torch.from_numpy(x), torch.from_numpy(y).long(), [torch.from_numpy(part) for part in writers()],
            torch.from_numpy(test_x), torch.from_numpy(test_y).long())


def train_one(net, x, y, epochs, batch, rate):
    """Local SGD of one client."""
    optimizer = torch.optim.SGD(net.parameters(), rate)
    for _ in range(epochs):
        order = torch.randperm(len(y))
        for at in range(0, len(y), batch):
            some = order[at:at + batch]
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[some]), y[some]).backward()
            optimizer.step()


def accuracy(net, x, y):
    with torch.no_grad():
        return float(sum(int((net(x[at:at + 1000]).argmax(1) == y[at:at + 1000]).sum()) for at in range(0, len(y), 1000)) / len(y))


def values(net):
    return [weight.detach().numpy().copy() for weight in net.parameters()]
