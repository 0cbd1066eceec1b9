"""The optimizers' update rules, one primitive each.

`prim(variable, state…, numbers…, gradient)` computes the new variable and states in one step; `writes` hands them to
the Parameters given. Rules are stated as published and evaluated in float32 at least. The result of the call is the new
value of the first `shown` arguments (most official operators show the variable alone).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore.ir import AbstractTuple
from mindspore.prims import checks
from mindspore.prims.active import ACTIVE
from mindspore.prims.factors import WHOLE, Factors, Labels, is_tensor, numbered
from mindspore.prims.precision import narrow, widen
from mindspore.prims.primitive import POINTS, Primitive
from mindspore.prims.setting_types import setting_types

if TYPE_CHECKING:
    from mindspore.ir import AbstractTensor
    from mindspore.prims.array_types import Array, Namespace


#: arguments that are other numbers in every step
_RATES = ("lr", "alpha", "beta1_power", "beta2_power")


class Update(Primitive):
    """An update rule. `arguments` names the call's arguments; those in `state` are replaced by what `step` returns."""

    arguments: tuple[str, ...] = ()
    state: tuple[str, ...] = ("var",)
    shown = 1
    #: update rules end a computation: no gradient flows through them
    bprop = None
    native_from = POINTS

    def __init_subclass__(cls, **kwargs: Any):
        cls.eval = cls.eval  # type: ignore[method-assign]  # classes with a rule of their own are registered by name
        super().__init_subclass__(**kwargs)
        cls.writes = tuple((cls.arguments.index(name), i) for i, name in enumerate(cls.state))
        cls.varying = tuple(i for i, name in enumerate(cls.arguments) if name in _RATES)

    def __init__(self, **attrs: Any):
        super().__init__(type(self).__name__, **attrs)

    def __call__(self, *args: Any, **named: Any) -> Any:
        gather = ACTIVE.gather
        if gather is not None and not named and gather(self, args):
            return None
        out = super().__call__(*args, **named)
        return out[0] if self.shown == 1 else out[: self.shown]

    def infer(self, *args: Any) -> Any:
        if len(args) != len(self.arguments):
            raise TypeError(f"For '{self.name}', {len(self.arguments)} arguments are needed, but got {len(args)}.")
        named = dict(zip(self.arguments, args))
        first = checks.tensor(self.name, self.state[0], named[self.state[0]])
        for name in (*self.state, "grad"):
            value = named.get(name, first)
            checks.tensor(self.name, name, value)
            if value.shape != first.shape and not (name in self.state and value.ndim == 0):
                raise checks.UnfitError(
                    f"For '{self.name}', '{name}' must have the shape of '{self.state[0]}', but got {value.shape} and "
                    f"{first.shape}."
                )
        for name in named.keys() - {*self.state, "grad"}:
            self._check_number(name, named[name])
        return AbstractTuple(tuple(named[name] for name in self.state))

    def _check_number(self, name: str, value: Any) -> None:
        """Rates and their kin are one real number each, or a tensor that holds one."""
        if isinstance(value, checks.TENSOR_LIKE):
            if value.dtype.kind != "c":
                return
        elif checks.is_real(value):
            return
        raise TypeError(f"For '{self.name}', '{name}' must be a real number or a Tensor of one, but got {checks.describe(value)}.")

    def factors(self, *args: Any) -> Factors:
        """Element by element in what has the variable's shape; other tensors are needed whole."""
        named = dict(zip(self.arguments, args))
        shape = named[self.state[0]].shape

        def labels(value: Any) -> Labels | None:
            if not is_tensor(value):
                return None
            return numbered(len(shape)) if value.shape == shape else (WHOLE,) * len(value.shape)

        return Factors(tuple(map(labels, args)), tuple(labels(named[name]) or () for name in self.state))

    def eval(self, xp: Namespace, *args: Any) -> Any:
        named = dict(zip(self.arguments, args))
        wide = [widen(a) if hasattr(a, "dtype") else a for a in args]
        with np.errstate(all="ignore"):
            out = self.step(xp, *wide)
        return tuple(narrow(xp.asarray(new), named[name]) for name, new in zip(self.state, out))

    def step(self, xp: Any, *args: Any) -> tuple:
        raise NotImplementedError


def _soft_threshold(xp: Namespace, x: Array, bound: Array) -> Any:
    """x, nearer to 0 by a bound; one below 0 is none."""
    return xp.sign(x) * xp.maximum(xp.abs(x) - xp.maximum(bound, 0), 0)


# -- gradient descent and momentum ----------------------------------------------------------------------------------
class ApplyGradientDescent(Update):
    """var -= alpha * delta.

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="w")
        >>> _ = ops.ApplyGradientDescent()(weight, 0.1, Tensor([2.0]))
        >>> print(weight.asnumpy())
        [0.8]
    """

    arguments = ("var", "alpha", "grad")

    def step(self, xp: Namespace, var: Any, alpha: Any, grad: Any) -> tuple:
        return (var - alpha * grad,)


class ApplyProximalGradientDescent(Update):
    """Gradient descent followed by the proximal step of l1 and l2 regularisation (Duchi & Singer 2009).

    Examples:
        >>> weight = Parameter(Tensor([1.0]), name="w")
        >>> _ = ops.ApplyProximalGradientDescent()(weight, 0.1, 1.0, 0.0, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.7]
    """

    arguments = ("var", "alpha", "l1", "l2", "grad")

    def step(self, xp: Namespace, var: Any, alpha: Any, l1: Any, l2: Any, grad: Any) -> tuple:
        return (_soft_threshold(xp, var - alpha * grad, alpha * l1) / (1 + alpha * l2),)


class ApplyMomentum(Update):
    """accum = momentum * accum + grad; var -= lr * accum.

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.ApplyMomentum()(weight, accum, 0.1, Tensor([2.0]), 0.9)
        >>> print(weight.asnumpy(), accum.asnumpy())
        [0.8] [2.]
    """

    arguments = ("var", "accum", "lr", "grad", "momentum")
    state = ("var", "accum")

    @setting_types(gradient_scale=float)
    def __init__(self, use_nesterov: bool = False, use_locking: bool = False, gradient_scale: float = 1.0):
        super().__init__(use_nesterov=use_nesterov, use_locking=use_locking, gradient_scale=gradient_scale)

    def step(self, xp: Namespace, var: Array, accum: Array, lr: Any, grad: Array, momentum: Any) -> tuple:
        grad = grad * self.gradient_scale if self.gradient_scale != 1.0 else grad
        accum = accum * momentum + grad
        direction = grad + accum * momentum if self.use_nesterov else accum
        return var - direction * lr, accum


class FusedWeightScaleApplyMomentum(Update):
    """Momentum on loss_scale-free gradients with weight decay: grad * scale + decay * var.

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.FusedWeightScaleApplyMomentum()(Tensor(0.0), Tensor(0.5), weight, accum, 0.1, Tensor([2.0]), 0.9)
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("weight_decay", "loss_scale", "var", "accum", "lr", "grad", "momentum")
    state = ("var", "accum")

    def step(
        self, xp: Namespace, weight_decay: Any, loss_scale: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any
    ) -> tuple:
        accum = accum * momentum + (grad * loss_scale + weight_decay * var)
        return var - accum * lr, accum


class ApplyKerasMomentum(Update):
    """accum = momentum * accum - lr * grad; var += accum.

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.ApplyKerasMomentum()(weight, accum, 0.1, Tensor([2.0]), 0.9)
        >>> print(weight.asnumpy(), accum.asnumpy())
        [0.8] [-0.2]
    """

    arguments = ("var", "accum", "lr", "grad", "momentum")
    state = ("var", "accum")
    shown = 2

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False):
        super().__init__(use_locking=use_locking, use_nesterov=use_nesterov)

    def step(self, xp: Namespace, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any) -> tuple:
        accum = accum * momentum - grad * lr
        return var + (accum * momentum - grad * lr if self.use_nesterov else accum), accum


class SGD(Update):
    """Stochastic gradient descent with momentum, dampening and Nesterov momentum (Sutskever et al. 2013).

    `stat` is 1 before a parameter's first update (the momentum buffer then starts as the gradient) and 0 afterwards.

    Examples:
        >>> weight, accum, stat = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "a"), (1.0, "s")))
        >>> _ = ops.SGD()(weight, Tensor([2.0]), Tensor(0.1), accum, Tensor(0.0), stat)
        >>> print(weight.asnumpy())
        [0.8]
    """

    arguments = ("var", "grad", "lr", "accum", "momentum", "stat")
    state = ("var", "accum", "stat")

    @setting_types(nesterov=bool)
    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False):
        if nesterov and dampening != 0:
            raise ValueError(f"For 'SGD', 'dampening' must be 0 when 'nesterov' is True, but got {dampening}.")
        super().__init__(dampening=float(dampening), weight_decay=float(weight_decay), nesterov=nesterov)

    def step(
        self, xp: Namespace, var: Array, grad: Array, lr: Array, accum: Array, momentum: Any, stat: Array
    ) -> tuple:
        grad = grad + self.weight_decay * var if self.weight_decay else grad
        velocity = accum * momentum + grad * (1 - self.dampening)
        velocity = xp.where(stat > 0, grad, velocity) if self.dampening else velocity
        direction = grad + velocity * momentum if self.nesterov else velocity
        used = xp.asarray(momentum) > 0  # without momentum the state stays as it is
        new_stat = xp.where(used, xp.zeros_like(stat), stat)
        return var - lr * xp.where(used, direction, grad), xp.where(used, velocity, accum), new_stat


# -- adaptive moments -------------------------------------------------------------------------------------------------
def _moments(m: Array, v: Array, beta1: Array, beta2: Array, grad: Array) -> tuple:
    return m * beta1 + grad * (1 - beta1), v * beta2 + grad * grad * (1 - beta2)


class Adam(Update):
    """Adam with bias correction folded into the learning rate (Kingma & Ba 2015, section 2).

    Examples:
        >>> weight, m, v = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> _ = ops.Adam()(weight, m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, Tensor([1.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad")
    state = ("var", "m", "v")
    shown = 3

    @setting_types(use_locking=bool, use_nesterov=bool)
    def __init__(self, use_locking: bool = False, use_nesterov: bool = False):
        super().__init__(use_locking=use_locking, use_nesterov=use_nesterov)

    def step(
        self, xp: Namespace, var: Array, m: Array, v: Array, beta1_power: Array, beta2_power: Any, lr: Array, beta1: Array, beta2: Array,
        epsilon: Array, grad: Array,
    ) -> tuple:  # fmt: skip
        m, v = _moments(m, v, beta1, beta2, grad)
        rate = lr * xp.sqrt(1 - xp.asarray(beta2_power)) / (1 - beta1_power)
        direction = m * beta1 + grad * (1 - beta1) if self.use_nesterov else m
        return var - rate * direction / (xp.sqrt(v) + epsilon), m, v


class AdamNoUpdateParam(Primitive):
    """The step Adam would add to the variable: both moments are updated, the variable is not.

    Examples:
        >>> m, v = (Parameter(Tensor([0.0]), name=name) for name in "mv")
        >>> print(ops.AdamNoUpdateParam()(m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, Tensor([1.0])).round(decimals=4))
        [-0.1]
    """

    writes = ((0, 1), (1, 2))

    def __init__(self, use_locking: bool = False, use_nesterov: bool = False):
        super().__init__(use_locking=use_locking, use_nesterov=use_nesterov)

    def __call__(self, *args: Any) -> Any:
        return super().__call__(*args)[0]

    def infer(self, m: AbstractTensor, v: AbstractTensor, *rest: Any) -> Any:
        return AbstractTuple((rest[-1], m, v))

    def eval(self, xp: Namespace, m: Array, v: Array, *rest: Any) -> Any:
        zero = xp.zeros_like(m)
        return Adam(self.use_locking, self.use_nesterov).eval(xp, zero, m, v, *rest)


class ApplyAdamWithAmsgradV2(Update):
    """AMSGrad: the denominator never shrinks (Reddi, Kale & Kumar 2018).

    Examples:
        >>> weight, m, v, peak = (Parameter(Tensor([x]), name=n) for x, n in zip((1.0, 0.0, 0.0, 0.0), "wmvp"))
        >>> _ = ops.ApplyAdamWithAmsgradV2()(weight, m, v, peak, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("var", "m", "v", "vhat", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad")
    state = ("var", "m", "v", "vhat")
    shown = 4

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self, xp: Namespace, var: Array, m: Array, v: Array, vhat: Array, beta1_power: Array, beta2_power: Any, lr: Array, beta1: Array,
        beta2: Array, epsilon: Array, grad: Array,
    ) -> tuple:  # fmt: skip
        m, v = _moments(m, v, beta1, beta2, grad)
        vhat = xp.maximum(vhat, v)
        rate = lr * xp.sqrt(1 - xp.asarray(beta2_power)) / (1 - beta1_power)
        return var - rate * m / (xp.sqrt(vhat) + epsilon), m, v, vhat


class ApplyAdamWithAmsgrad(Update):
    """AMSGrad with fixed decay rates.

    Examples:
        >>> weight, m, v, peak = (Parameter(Tensor([x]), name=n) for x, n in zip((1.0, 0.0, 0.0, 0.0), "wmvp"))
        >>> _ = ops.ApplyAdamWithAmsgrad()(weight, m, v, peak, 0.9, 0.999, 0.1, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("var", "m", "v", "vhat", "beta1_power", "beta2_power", "lr", "grad")
    state = ("var", "m", "v", "vhat")
    shown = 4

    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, use_locking: bool = False):
        super().__init__(beta1=beta1, beta2=beta2, epsilon=epsilon, use_locking=use_locking)

    def step(
        self, xp: Namespace, var: Any, m: Any, v: Any, vhat: Any, beta1_power: Any, beta2_power: Any, lr: Any, grad: Any
    ) -> tuple:
        rule = ApplyAdamWithAmsgradV2.step
        numbers = (beta1_power, beta2_power, lr, self.beta1, self.beta2, self.epsilon)
        return rule(self, xp, var, m, v, vhat, *numbers, grad)  # type: ignore[arg-type]


class AdamWeightDecay(Update):
    """Adam without bias correction and with decoupled weight decay, as BERT was trained.

    Examples:
        >>> weight, m, v = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> _ = ops.AdamWeightDecay()(weight, m, v, 0.1, 0.9, 0.999, 1e-8, 0.0, Tensor([1.0]))
        >>> print(m.asnumpy().round(4))
        [0.1]
    """

    arguments = ("var", "m", "v", "lr", "beta1", "beta2", "epsilon", "decay", "grad")
    state = ("var", "m", "v")
    shown = 3

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self,
        xp: Namespace,
        var: Array,
        m: Array,
        v: Array,
        lr: Array,
        beta1: Array,
        beta2: Array,
        epsilon: Array,
        decay: Any,
        grad: Array,
    ) -> tuple:
        m, v = _moments(m, v, beta1, beta2, grad)
        return var - lr * (m / (xp.sqrt(v) + epsilon) + decay * var), m, v


class FusedCastAdamWeightDecay(AdamWeightDecay):
    """AdamWeightDecay whose gradient may be of another float type than the variable.

    Examples:
        >>> weight, m, v = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> grad = Tensor([1.0], ms.float16)
        >>> _ = ops.FusedCastAdamWeightDecay()(weight, m, v, 0.1, 0.9, 0.999, 1e-8, 0.0, grad)
        >>> print(m.asnumpy().round(4))
        [0.1]
    """

    arguments = AdamWeightDecay.arguments


class ApplyAdaMax(Update):
    """AdaMax: Adam under the infinity norm (Kingma & Ba 2015, section 7.1).

    Examples:
        >>> weight, m, v = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> _ = ops.ApplyAdaMax()(weight, m, v, 0.9, 0.1, 0.9, 0.99, 1e-8, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("var", "m", "v", "beta1_power", "lr", "beta1", "beta2", "epsilon", "grad")
    state = ("var", "m", "v")
    shown = 3

    def step(
        self,
        xp: Namespace,
        var: Array,
        m: Array,
        v: Array,
        beta1_power: Array,
        lr: Array,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        grad: Array,
    ) -> tuple:
        m = m * beta1 + grad * (1 - beta1)
        v = xp.maximum(beta2 * v, xp.abs(grad))
        return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


class ApplyAddSign(Update):
    """AddSign: steps grow where gradient and momentum agree in sign (Bello et al. 2017).

    Examples:
        >>> weight, m = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="m")
        >>> _ = ops.ApplyAddSign()(weight, m, 0.1, 1.0, 0.5, 0.9, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.7]
    """

    arguments = ("var", "m", "lr", "alpha", "sign_decay", "beta", "grad")
    state = ("var", "m")
    shown = 2

    def step(
        self, xp: Namespace, var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any
    ) -> tuple:
        m = m * beta + grad * (1 - beta)
        return var - lr * (alpha + sign_decay * xp.sign(grad) * xp.sign(m)) * grad, m


class ApplyPowerSign(Update):
    """PowerSign: like AddSign with an exponential factor (Bello et al. 2017).

    Examples:
        >>> weight, m = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="m")
        >>> _ = ops.ApplyPowerSign()(weight, m, 0.1, 2.0, 0.5, 0.9, Tensor([2.0]))
        >>> print(m.asnumpy().round(4))
        [0.2]
    """

    arguments = ("var", "m", "lr", "logbase", "sign_decay", "beta", "grad")
    state = ("var", "m")
    shown = 2

    def step(
        self, xp: Namespace, var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any
    ) -> tuple:
        m = m * beta + grad * (1 - beta)
        return var - lr * xp.exp(logbase * sign_decay * xp.sign(grad) * xp.sign(m)) * grad, m


# -- accumulated squares ----------------------------------------------------------------------------------------------
class ApplyAdagrad(Update):
    """accum += grad²; var -= lr * grad / sqrt(accum) (Duchi, Hazan & Singer 2011).

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.ApplyAdagrad()(weight, accum, 0.1, Tensor([2.0]))
        >>> print(weight.asnumpy(), accum.asnumpy())
        [0.9] [4.]
    """

    arguments = ("var", "accum", "lr", "grad")
    state = ("var", "accum")
    shown = 2
    epsilon = 0.0

    @setting_types(update_slots=bool)
    def __init__(self, update_slots: bool = True):
        super().__init__(update_slots=update_slots)

    def step(self, xp: Namespace, var: Array, accum: Array, lr: Array, grad: Array) -> tuple:
        accum = accum + grad * grad if self.update_slots else accum
        return var - lr * grad / (xp.sqrt(accum) + self.epsilon), accum


class ApplyAdagradV2(ApplyAdagrad):
    """Adagrad with a constant added to the denominator.

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.ApplyAdagradV2(epsilon=1e-6)(weight, accum, 0.1, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ApplyAdagrad.arguments

    @setting_types(epsilon=float, update_slots=bool)
    def __init__(self, epsilon: float, update_slots: bool = True):
        Update.__init__(self, epsilon=epsilon, update_slots=update_slots)


class ApplyProximalAdagrad(Update):
    """Adagrad with the proximal step of l1 and l2 regularisation (Duchi & Singer 2009).

    Examples:
        >>> weight, accum = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([0.0]), name="a")
        >>> _ = ops.ApplyProximalAdagrad()(weight, accum, 0.1, 0.0, 0.0, Tensor([2.0]))
        >>> print(weight.asnumpy().round(4))
        [0.9]
    """

    arguments = ("var", "accum", "lr", "l1", "l2", "grad")
    state = ("var", "accum")
    shown = 2

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(self, xp: Namespace, var: Array, accum: Array, lr: Array, l1: Any, l2: Any, grad: Array) -> tuple:
        accum = accum + grad * grad
        rate = lr / xp.sqrt(accum)
        return _soft_threshold(xp, var - rate * grad, rate * l1) / (1 + rate * l2), accum


class ApplyAdagradDA(Update):
    """Adagrad by dual averaging: the variable is recomputed from sums of gradients.

    Examples:
        >>> weight, total, squares = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "g"), (0.0, "s")))
        >>> _ = ops.ApplyAdagradDA()(weight, total, squares, Tensor([2.0]), 0.1, 0.0, 0.0, 1)
        >>> print(total.asnumpy(), squares.asnumpy())
        [2.] [4.]
    """

    arguments = ("var", "accum", "squared", "grad", "lr", "l1", "l2", "global_step")
    state = ("var", "accum", "squared")

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self, xp: Namespace, var: Any, accum: Any, squared: Any, grad: Any, lr: Any, l1: Any, l2: Any, global_step: Any
    ) -> tuple:
        accum, squared = accum + grad, squared + grad * grad
        pull = _soft_threshold(xp, accum, l1 * global_step)
        return -lr * pull / (l2 * global_step * lr + xp.sqrt(squared)), accum, squared


class ApplyAdadelta(Update):
    """Steps scaled by the ratio of running updates to running gradients (Zeiler 2012).

    Examples:
        >>> weight, accum, updates = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "a"), (0.0, "u")))
        >>> _ = ops.ApplyAdadelta()(weight, accum, updates, 0.1, 0.5, 1e-6, Tensor([2.0]))
        >>> print(accum.asnumpy())
        [2.]
    """

    arguments = ("var", "accum", "accum_update", "lr", "rho", "epsilon", "grad")
    state = ("var", "accum", "accum_update")
    shown = 3

    def step(
        self,
        xp: Namespace,
        var: Array,
        accum: Array,
        accum_update: Array,
        lr: Array,
        rho: Any,
        epsilon: Any,
        grad: Array,
    ) -> tuple:
        accum = rho * accum + (1 - rho) * grad * grad
        update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
        return var - lr * update, accum, rho * accum_update + (1 - rho) * update * update


class ApplyRMSProp(Update):
    """Steps divided by the running root mean square of gradients (Tieleman & Hinton 2012).

    Examples:
        >>> weight, square, moment = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "s"), (0.0, "m")))
        >>> _ = ops.ApplyRMSProp()(weight, square, moment, 0.1, Tensor([2.0]), 0.9, 0.0, 1e-6)
        >>> print(square.asnumpy().round(4))
        [0.4]
    """

    arguments = ("var", "mean_square", "moment", "lr", "grad", "decay", "momentum", "epsilon")
    state = ("var", "mean_square", "moment")

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self,
        xp: Namespace,
        var: Array,
        mean_square: Array,
        moment: Array,
        lr: Array,
        grad: Array,
        decay: Any,
        momentum: Any,
        epsilon: Any,
    ) -> tuple:
        mean_square = decay * mean_square + (1 - decay) * grad * grad
        moment = momentum * moment + lr * grad / xp.sqrt(mean_square + epsilon)
        return var - moment, mean_square, moment


class ApplyCenteredRMSProp(Update):
    """RMSProp with the variance of the gradient in place of its mean square.

    Examples:
        >>> names = ("w", "mean", "square", "moment")
        >>> weight, mean, square, moment = (Parameter(Tensor([float(name == "w")]), name=name) for name in names)
        >>> _ = ops.ApplyCenteredRMSProp()(weight, mean, square, moment, Tensor([2.0]), 0.1, 0.9, 0.0, 1e-6)
        >>> print(mean.asnumpy().round(4), square.asnumpy().round(4))
        [0.2] [0.4]
    """

    arguments = ("var", "mean_gradient", "mean_square", "moment", "grad", "lr", "decay", "momentum", "epsilon")
    state = ("var", "mean_gradient", "mean_square", "moment")

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self, xp: Namespace, var: Array, mean_gradient: Array, mean_square: Array, moment: Array, grad: Array, lr: Array, decay: Any,
        momentum: Any, epsilon: Any,
    ) -> tuple:  # fmt: skip
        mean_gradient = decay * mean_gradient + (1 - decay) * grad
        mean_square = decay * mean_square + (1 - decay) * grad * grad
        variance = mean_square - mean_gradient * mean_gradient
        moment = momentum * moment + lr * grad / xp.sqrt(variance + epsilon)
        return var - moment, mean_gradient, mean_square, moment


class ApplyFtrl(Update):
    """Follow the regularised leader, per coordinate (McMahan et al. 2013).

    Examples:
        >>> weight, accum, linear = (Parameter(Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "a"), (0.0, "l")))
        >>> _ = ops.ApplyFtrl()(weight, accum, linear, Tensor([2.0]), 0.1, 0.0, 0.0, -0.5)
        >>> print(accum.asnumpy())
        [4.]
    """

    arguments = ("var", "accum", "linear", "grad", "lr", "l1", "l2", "lr_power")
    state = ("var", "accum", "linear")

    @setting_types(use_locking=bool)
    def __init__(self, use_locking: bool = False):
        super().__init__(use_locking=use_locking)

    def step(
        self,
        xp: Namespace,
        var: Array,
        accum: Array,
        linear: Array,
        grad: Array,
        lr: Array,
        l1: Any,
        l2: Any,
        lr_power: Any,
    ) -> tuple:
        total = accum + grad * grad
        before, after = accum ** (-lr_power), total ** (-lr_power)
        linear = linear + grad - (after - before) / lr * var
        var = xp.where(xp.abs(linear) > l1, (xp.sign(linear) * l1 - linear) / (after / lr + 2 * l2), xp.zeros_like(var))
        return var, total, linear


class LARSUpdate(Primitive):
    """The gradient rescaled by the layer-wise trust ratio (You, Gitman & Ginsburg 2017); nothing is written.

    Examples:
        >>> weight, grad = Tensor([3.0, 4.0]), Tensor([0.6, 0.8])
        >>> print(ops.LARSUpdate(hyperpara=0.5)(weight, grad, Tensor(25.0), Tensor(1.0), 0.0, 1.0).round(decimals=4))
        [1.5 2. ]
    """

    def __init__(self, epsilon: float = 1e-05, hyperpara: float = 0.001, use_clip: bool = False):
        super().__init__(epsilon=epsilon, hyperpara=hyperpara, use_clip=use_clip)

    def infer(self, weight: Any, gradient: Any, *rest: Any) -> Any:
        checks.tensor(self.name, "weight", weight)
        return checks.tensor(self.name, "gradient", gradient)

    def eval(
        self,
        xp: Namespace,
        weight: Any,
        gradient: Any,
        norm_weight: Any,
        norm_gradient: Any,
        weight_decay: Any,
        lr: Any,
    ) -> Any:
        size, slope = xp.sqrt(widen(norm_weight)), xp.sqrt(widen(norm_gradient))
        ratio = self.hyperpara * size / (slope + weight_decay * size + self.epsilon)
        if self.use_clip:
            ratio = xp.minimum(ratio / lr, 1)
        ratio = xp.where((size > 0) & (slope > 0), ratio, xp.ones_like(ratio))
        return narrow((widen(gradient) + weight_decay * widen(weight)) * ratio, gradient)
