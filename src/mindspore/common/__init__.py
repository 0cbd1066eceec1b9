"""L6: Tensor, Parameter, jit, initialisers: what user code touches first."""
