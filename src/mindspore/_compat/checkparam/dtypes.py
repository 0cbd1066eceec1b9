"""Checks of element types and of the data that models take and give."""

from __future__ import annotations

from typing import Any

from mindspore._base import dtype as mstype

_HINT = " Which types an operation takes depends on the operation; see its documentation."


def check_subclass(
    arg_name: str, type_: Any, template_types: Any, prim_name: str, addition_error_info: str | None = None
) -> None:
    """A MindSpore type that is one of some types or belongs to their families."""
    templates = (
        tuple(template_types) if isinstance(template_types, (list, tuple, set, frozenset)) else (template_types,)
    )
    if any(type_ is t or mstype.issubclass_(type_, t) for t in templates):
        return
    names = [str(t) for t in templates]
    wanted = names[0] if len(names) == 1 else f"one of {names}"
    given = str(type_) if isinstance(type_, mstype.Type) else type(type_).__name__
    more = addition_error_info if addition_error_info is not None else ""
    raise TypeError(f"For '{prim_name}', the element of '{arg_name}' must be {wanted}, but got {given}{more}.{_HINT}")


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None) -> Any:
    """A type among some types; families are not looked into."""
    types = tuple(valid_types) if isinstance(valid_types, (list, tuple, set, frozenset)) else (valid_types,)
    if isinstance(arg_type, mstype.TensorType):
        arg_type = arg_type.element_type()
    if arg_type in types:
        return arg_type
    start = f"For '{prim_name}', the" if prim_name else "The"
    names = [_spelt(t) for t in types]
    wanted = names[0] if len(names) == 1 else f"one of [{', '.join(names)}]"
    raise TypeError(f"{start} '{arg_name}' should be {wanted}, but got '{_spelt(arg_type)}'.")


def _spelt(type_: Any) -> str:
    return type_.__name__ if isinstance(type_, type) else repr(type_)


def check_types_same_and_valid(args: dict[str, Any], valid_values: Any, prim_name: str) -> None:
    """All types are equal, and among `valid_values`."""
    for name, type_ in args.items():
        check_subclass(name, type_, valid_values, prim_name)
    (first, expected), *others = args.items()
    for name, type_ in others:
        if type_ != expected:
            raise TypeError(
                f"For '{prim_name}', the type of '{name}' should be same as '{first}', "
                f"but got '{first}' with type {expected} and '{name}' with type {type_}."
            )


def check_tensors_dtypes_same_and_valid(args: dict[str, Any], valid_dtypes: Any, prim_name: str) -> None:
    """The same for types of tensors, whose element types are in `valid_dtypes`."""
    check_types_same_and_valid({k: _element(v) for k, v in args.items()}, valid_dtypes, prim_name)


def check_tensor_dtype_valid(arg_name: str, arg_type: Any, valid_dtypes: Any, prim_name: str) -> None:
    """A tensor type whose element type is in `valid_dtypes`."""
    check_subclass(arg_name, _element(arg_type), valid_dtypes, prim_name)


def check_scalar_or_tensor_types_same(
    args: dict[str, Any], valid_values: Any, prim_name: str, allow_mix: bool = False
) -> None:
    """All scalars or all tensors (or mixed, with `allow_mix`) of one valid element type."""
    tensors = {name: isinstance(type_, mstype.TensorType) for name, type_ in args.items()}
    if not allow_mix and len(set(tensors.values())) > 1:
        shown = ", ".join(f"'{n}': {t}" for n, t in args.items())
        raise TypeError(f"For '{prim_name}', the arguments must be all scalars or all tensors, but got {shown}.")
    check_types_same_and_valid({k: _element(v) for k, v in args.items()}, valid_values, prim_name)


def _element(type_: Any) -> Any:
    return type_.element_type() if isinstance(type_, mstype.TensorType) else type_


def check_astype_dtype(dtype: object) -> Any:
    """A dtype from a dtype, a Python type or a name."""
    known = [d.name for d in mstype.NUMBER_TYPES]
    try:
        if isinstance(dtype, str) and dtype not in (*known, "bool"):  # NumPy's one-letter codes are no names here
            raise TypeError(dtype)
        return mstype.to_dtype(dtype)
    except TypeError:
        raise TypeError(f"For Tensor.astype, the input type must be one of {known}, but got '{dtype}'.") from None


def check_type_support(dtype: Any, device: str, supported_dtypes: Any) -> bool:
    """Whether a type is supported when `device` is the kind of device in use."""
    from mindspore import context

    return dtype in supported_dtypes or context.get_context("device_target") != device


def check_csr_tensor_dtype(indptr_dtype: Any, indices_dtype: Any) -> None:
    for name, dtype in (("indptr", indptr_dtype), ("indices", indices_dtype)):
        if dtype not in (mstype.int16, mstype.int32, mstype.int64):
            raise TypeError(f"For CSRTensor, the type of '{name}' must be int16, int32 or int64, but got {dtype}.")


def check_coo_tensor_dtype(indices_dtype: Any) -> None:
    if indices_dtype not in (mstype.int16, mstype.int32, mstype.int64):
        raise TypeError(f"For COOTensor, the type of 'indices' must be int16, int32 or int64, but got {indices_dtype}.")


# -- data of models ---------------------------------------------------------------------------------------------------
def check_input_data(*data: Any, data_class: Any) -> None:
    """Inputs of a model: objects of `data_class`, or lists, tuples and dicts of them."""
    classes = tuple(data_class) if isinstance(data_class, (list, tuple)) else (data_class,)
    for item in data:
        parts = item if isinstance(item, (list, tuple)) else list(item.values()) if isinstance(item, dict) else [item]
        if isinstance(item, (list, tuple, dict)) and not parts:
            raise ValueError("The input data must not be an empty list, tuple or dict.")
        for part in parts:
            if not isinstance(part, classes):
                names = ", ".join(c.__name__ if isinstance(c, type) else str(c) for c in classes)
                raise TypeError(
                    f"The types of input data must be in the Union({names}, tuple[{names}], list[{names}], "
                    f"dict[{names}]), but got type {type(part).__name__}."
                )


def check_input_dataset(*dataset: Any, dataset_type: Any) -> bool:
    """Whether all are datasets of this type."""
    return bool(dataset) and all(isinstance(item, dataset_type) for item in dataset)


def check_output_data(data: Any) -> None:
    if data is None:
        raise RuntimeError("The output data can not be None, please check your net or input data.")


def is_stub_tensor(tensor: Any) -> bool:
    """Whether the tensor's value is still being computed elsewhere. Here values are always there."""
    return False
