"""L3: from the user's Python to an optimised graph. `driver.py` lists the stages."""
