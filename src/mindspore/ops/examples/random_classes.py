"""Random numbers, as classes."""

TABLE = """
Bernoulli: 1 with probability p, else 0, in the shape of the first argument.
    >>> print(ops.Bernoulli()(ops.ones(3), Tensor(1.0)))
    [1. 1. 1.]
Cauchy: Cauchy numbers around `median` with scale `sigma`.
    >>> ops.Cauchy([2, 3], median=1.0, sigma=0.5)().shape
    (2, 3)
Gamma
    >>> ops.Gamma(seed=1)((3,), Tensor([1.0, 2.0]), Tensor([1.0])).shape
    (3, 2)
LogNormalReverse: Log-normal numbers in the shape of the input.
    >>> bool((ops.LogNormalReverse(mean=1.0, std=0.5)(ops.zeros(4)) > 0).all())
    True
LogUniformCandidateSampler: Classes of a log-uniform (Zipf) distribution, with expected counts of true and drawn ones.
    >>> drawn, expected_true, expected = ops.LogUniformCandidateSampler(2, 3, True, 9)(Tensor([[1, 7], [0, 4]]))
    >>> drawn.shape, expected_true.shape
    ((3,), (2, 2))
Multinomial
    >>> print(ops.Multinomial(seed=1)(Tensor([0.0, 1.0, 0.0]), 3))
    [1 1 1]
MultinomialWithReplacement: `numsamples` indices drawn with probabilities proportional to each row.
    >>> print(ops.MultinomialWithReplacement(3, True)(Tensor([[0.0, 1.0, 0.0]]), 2, 5))
    [[1 1 1]]
NonDeterministicInts: Random integers over the whole range of the type.
    >>> ops.NonDeterministicInts(dtype=ms.int32)(Tensor([2, 3], ms.int32)).shape
    (2, 3)
ParameterizedTruncatedNormal
    >>> shape, mean, deviation = Tensor([4], ms.int32), Tensor([0.0]), Tensor([1.0])
    >>> x = ops.ParameterizedTruncatedNormal(seed=1)(shape, mean, deviation, Tensor([-1.0]), Tensor([1.0]))
    >>> bool((x.abs() <= 1).all())
    True
Poisson
    >>> ops.Poisson(seed=1)((3,), Tensor([1.0])).shape
    (3,)
RandomCategorical: `num_sample` indices per row drawn with probabilities softmax(logits).
    >>> print(ops.RandomCategorical()(Tensor([[0.0, 100.0]]), 3, 1))
    [[1 1 1]]
RandomChoiceWithMask
    >>> places, valid = ops.RandomChoiceWithMask(count=2)(Tensor([[True, False]]))
    >>> valid.tolist()
    [True, False]
RandomGamma
    >>> ops.RandomGamma(seed=1)(Tensor([3], ms.int32), Tensor([1.0, 2.0])).shape
    (3, 2)
RandomPoisson
    >>> ops.RandomPoisson(seed=1)(Tensor([3], ms.int32), Tensor([1.0, 2.0])).shape
    (3, 2)
RandomShuffle
    >>> print(ops.sort(ops.RandomShuffle(seed=1)(Tensor([1.0, 2.0, 3.0])))[0])
    [1. 2. 3.]
Randperm
    >>> print(ops.sort(ops.Randperm(max_length=4)(Tensor([4], ms.int32)).astype(ms.float32))[0])
    [0. 1. 2. 3.]
RandpermV2: A random order of 0 … n - 1.
    >>> print(ops.sort(ops.RandpermV2(seed=1)(Tensor([4])).astype(ms.float32))[0])
    [0. 1. 2. 3.]
StandardLaplace
    >>> ops.StandardLaplace(seed=1)((2, 3)).shape
    (2, 3)
StandardNormal
    >>> ops.StandardNormal(seed=1)((2, 3)).shape
    (2, 3)
TruncatedNormal
    >>> bool((ops.TruncatedNormal(seed=1)((100,)).abs() <= 2).all())
    True
UniformCandidateSampler: Classes drawn uniformly, with expected counts of true and sampled classes.
    >>> drawn, expected_true, expected = ops.UniformCandidateSampler(1, 3, False, 5)(Tensor([[1], [3]]))
    >>> drawn.shape
    (3,)
UniformInt
    >>> x = ops.UniformInt(seed=1)((4,), Tensor(5, ms.int32), Tensor(8, ms.int32))
    >>> bool(((x >= 5) & (x < 8)).all())
    True
UniformReal
    >>> ops.UniformReal()((2, 3)).shape
    (2, 3)
"""
