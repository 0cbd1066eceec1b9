"""Graphs in MindRecord files: `GraphData` reads one into memory and samples from it."""

from mindspore.dataset.graph.graphdata import GraphData, OutputFormat, SamplingStrategy

__all__ = ["GraphData", "OutputFormat", "SamplingStrategy"]
