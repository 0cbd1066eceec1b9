"""The objects with which jobs are started."""
