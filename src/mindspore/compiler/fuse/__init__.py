"""Graph kernel fusion: from primitives to clusters that each become one kernel.

`flags`      what users tune by MS_DEV_GRAPH_KERNEL_FLAGS
`loopir`     tensors as maps, reductions and views of other tensors: what a primitive does, without its name
`namespace`  an array namespace that records: running a primitive's evaluation rule on it expands the primitive
`expand`     a graph as one loop program
`domain`     which loops a set of values needs, and whether one kernel can hold them
`cluster`    greedy grouping of values into kernels, and the order in which they run
`dump`       the result as text
"""
