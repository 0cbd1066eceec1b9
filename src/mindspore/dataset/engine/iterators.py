"""The import path `mindspore.dataset.engine.iterators` of official MindSpore."""

from mindspore.dataset.api.iterators import (
    ITERATORS_LIST,
    DictIterator,
    DummyIterator,
    Iterator,
    TupleIterator,
    _cleanup,
)

__all__ = ["ITERATORS_LIST", "DictIterator", "DummyIterator", "Iterator", "TupleIterator", "_cleanup"]
