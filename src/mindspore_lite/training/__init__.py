"""Training on the device: gradients are made when a model is converted, so that a device only runs graphs.

    Program (inputs → loss) ──gradients.py──▶ step: loss, new weights
                                          ├─▶ gather: loss, sums of gradients
                                          └─▶ apply: new weights

`options.py` reads `[train_param]`, `plan.py` finds how large a piece of a batch fits into memory, `file.py` has the sections of the `.ms`
file, and `trainer.py` (`TrainModel`) runs the graphs and keeps their state.
"""
