"""MindOptimizer: searches for good hyper-parameters by running a command again and again."""
