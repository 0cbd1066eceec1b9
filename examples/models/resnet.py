"""ResNet (He et al. 2015, the v1.5 variant: stride in the 3x3 convolution), in plain MindSpore API."""

from mindspore import nn, ops


def conv(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, has_bias=False)


class Bottleneck(nn.Cell):
    """1x1, 3x3, 1x1 convolutions around a shortcut."""

    expansion = 4

    def __init__(self, inputs, width, stride=1):
        super().__init__()
        outputs = width * self.expansion
        self.conv1, self.bn1 = conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, outputs, 1), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.SequentialCell([conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)])

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return self.relu(out + x)


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions around a shortcut."""

    expansion = 1

    def __init__(self, inputs, width, stride=1):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3), nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or inputs != width:
            self.shortcut = nn.SequentialCell([conv(inputs, width, 1, stride), nn.BatchNorm2d(width)])

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.shortcut is not None:
            x = self.shortcut(x)
        return self.relu(out + x)


class ResNet(nn.Cell):
    """A stem, four stages of blocks, global average pooling, a classifier."""

    def __init__(self, block, depths, num_classes=1000, in_channels=3):
        super().__init__()
        self.conv1, self.bn1 = conv(in_channels, 64, 7, 2), nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        stages, inputs = [], 64
        for i, depth in enumerate(depths):
            width = 64 * 2**i
            for k in range(depth):
                stages.append(block(inputs, width, 2 if k == 0 and i > 0 else 1))
                inputs = width * block.expansion
        self.stages = nn.SequentialCell(stages)
        self.fc = nn.Dense(inputs, num_classes)

    def construct(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        x = self.stages(x)
        return self.fc(ops.mean(x, (2, 3)))


def resnet18(num_classes=1000):
    return ResNet(BasicBlock, [2, 2, 2, 2], num_classes)


def resnet50(num_classes=1000):
    return ResNet(Bottleneck, [3, 4, 6, 3], num_classes)
