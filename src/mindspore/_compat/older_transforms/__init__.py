"""Transforms of data sets under the paths, and with the arguments, of MindSpore 1.x."""
