"""The running side of a pipeline: stateful operators, workers, queues."""
