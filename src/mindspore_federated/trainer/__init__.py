"""Training with the framework's networks: the horizontal manager and the vertical model."""
