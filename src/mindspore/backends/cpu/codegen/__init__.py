"""The kernel generator: from a description of a fused loop nest (`spec`) to LLVM's text IR.

`spec`     what a kernel is: axes, buffers with strides, straight-line scalar code, reductions, stores
`text`     writing IR text: names, loops with carried values, vector types
`vecmath`  exp, log, tanh … on vectors, accurate to 4 ulp
`scalar`   the operations a kernel may apply to its values
`loops`    the schedule: stages, vectors, tails, threads
"""
