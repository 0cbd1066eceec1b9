"""What the parts of the package share: argument checks, settings, tensors."""
