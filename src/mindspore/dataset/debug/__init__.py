"""Looking into a pipeline: with `config.set_debug_mode(True, hooks)` each hook sees the data between operations."""

from mindspore.dataset.debug.hooks import DebugHook, PrintDataHook, PrintMetaDataHook

__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]
