"""The fields that MindRecord's error codes are made of."""

from __future__ import annotations


class LogRuntime:
    """Where an error was raised."""

    RT_HOST = 1
    RT_DEVICE = 2


class ErrorCodeType:
    """Whether a code stands for an error or an exception."""

    ERROR_CODE = 1
    EXCEPTION_CODE = 2


class ErrorLevel:
    """How grave an error is."""

    COMMON_LEVEL = 0
    SUGGESTION_LEVEL = 1
    MINOR_LEVEL = 2
    MAJOR_LEVEL = 3
    CRITICAL_LEVEL = 4
