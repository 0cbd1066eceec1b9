"""Dumps: the inputs and outputs of operations as files, for whoever looks for the place where numbers go wrong.

`MINDSPORE_DUMP_CONFIG` names a JSON file in the official form (`config.py`), and the files are laid out and named as
official MindSpore does it (`files.py`). In graph mode a run that is to be dumped goes node by node (`graphs.py`), so
that nodes in branches and loops are seen as well and every backend is served; other runs use the compiled graph. In
PyNative mode the dispatch of primitives is watched (`eager.py`). Nothing of this is touched while the variable is unset.
"""
