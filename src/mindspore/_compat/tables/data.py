"""Official paths of `mindspore.dataset`."""

from __future__ import annotations

from mindspore._compat.tables.entry import Entry, held_by

_DATASET = "mindspore.dataset"
_OLD = "mindspore._compat.older_transforms"

SAME = {
    f"{_DATASET}.context": "mindspore.context",
    f"{_DATASET}.core.config": f"{_DATASET}.config",
    f"{_DATASET}.text.c_transforms": f"{_DATASET}.text.transforms",
    f"{_DATASET}.text.py_transforms": f"{_DATASET}.text.transforms",
    f"{_DATASET}.transforms.c_transforms": f"{_DATASET}.transforms.transforms",
    f"{_DATASET}.transforms.py_transforms": f"{_DATASET}.transforms.transforms",
    f"{_DATASET}.transforms.py_transforms_util": f"{_OLD}.general_util",
    f"{_DATASET}.transforms.vision": f"{_DATASET}.vision",
    f"{_DATASET}.transforms.vision.c_transforms": f"{_OLD}.vision_c",
    f"{_DATASET}.transforms.vision.py_transforms": f"{_OLD}.vision_py",
    f"{_DATASET}.vision.helpers": f"{_OLD}.vision_functions",
    f"{_DATASET}.vision.c_transforms": f"{_OLD}.vision_c",
    f"{_DATASET}.vision.py_transforms": f"{_OLD}.vision_py",
    f"{_DATASET}.vision.py_transforms_util": f"{_OLD}.vision_util",
}

#: modules of the engine that held its classes by kind; all of them are names of `mindspore.dataset`
_ENGINE = (
    "cache_client", "datasets", "datasets_audio", "datasets_standard_format", "datasets_text", "datasets_user_defined",
    "datasets_vision", "samplers", "serializer_deserializer",
)  # fmt: skip

HELD = {
    f"{_DATASET}.core": Entry({"config": _DATASET}),
    f"{_DATASET}.core.validator_helpers": Entry(
        held_by(
            f"{_DATASET}.transforms.checks",
            "DOUBLE_MAX_INTEGER FLOAT_MAX_INTEGER INT32_MAX INT32_MIN INT64_MAX UINT32_MAX UINT8_MAX",
        )
    ),
    f"{_DATASET}.engine": Entry(search=(_DATASET,)),
    **{f"{_DATASET}.engine.{name}": Entry(search=(_DATASET,)) for name in _ENGINE},
    f"{_DATASET}.engine.datasets": Entry(
        search=(_DATASET,),
        unlisted=held_by("mindspore._compat.private_helpers", "_get_training_dataset _set_training_dataset"),
    ),
    f"{_DATASET}.engine.iterators": Entry(
        held_by(
            f"{_DATASET}.api.iterators",
            "ITERATORS_LIST DictIterator DummyIterator Iterator TupleIterator _cleanup",
        )
    ),
}
