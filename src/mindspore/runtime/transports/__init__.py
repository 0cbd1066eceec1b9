"""How arrays travel between the processes of a run: MPI for CPUs. `prims/world.py` has the protocol."""
