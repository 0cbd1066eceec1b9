"""The engine: what a servable declares, how its methods run, the processes that run them. Façade: nothing is re-exported."""
