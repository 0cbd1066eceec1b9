"""MindIR files: `lowering` (our primitives in official spelling), `operations` (the reverse), export and loading."""
