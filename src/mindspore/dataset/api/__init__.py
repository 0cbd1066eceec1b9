"""User-facing classes: they check arguments and build the tree, nothing else."""
