"""Errors as official replies word and number them.

A code has 32 bits: runtime 1, type 1, level 0, system 42, five bits of module, twelve of the error.
"""

from __future__ import annotations

GENERAL, LINEAGE, DATAVISUAL, PROFILER, OPTIMIZER, DEBUGGER = 0, 2, 5, 6, 10, 11


class ApiError(Exception):
    """A request that cannot be answered."""

    def __init__(self, module: int, value: int, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = f"{1 << 30 | 1 << 28 | 42 << 17 | module << 12 | value:08X}"
        self.message = " ".join(message.split())
        self.status = status

    def body(self) -> dict[str, str]:
        """The reply."""
        return {"error_code": self.code, "error_msg": self.message}


def wrong_type(name: str, expected: str) -> ApiError:
    """A parameter of a wrong type."""
    return ApiError(GENERAL, 1, f"Invalid parameter type. '{name}' expect {expected} type.")


def wrong_value(detail: str = "") -> ApiError:
    """A parameter that is not allowed."""
    return ApiError(GENERAL, 2, f"Invalid parameter value. {detail}")


def missing(name: str) -> ApiError:
    """A parameter that must be there."""
    return ApiError(GENERAL, 3, f"Param missing. '{name}' is required.")


def no_route() -> ApiError:
    """An unknown address."""
    return ApiError(DATAVISUAL, 1, "404 Not Found.", 404)


def no_method() -> ApiError:
    """An address that is not for this method."""
    return ApiError(DATAVISUAL, 2, "405 Method Not Allowed.", 405)


def no_node(name: str) -> ApiError:
    """A node that is not in the graph."""
    return ApiError(DATAVISUAL, 9, f"Can not find node in graph by the given node name. node name: {name}.")


def no_run(detail: str = "Can not find the given train job in cache.") -> ApiError:
    """A run that is not there."""
    return ApiError(DATAVISUAL, 5, f"Train job is not exist. Detail: {detail}" if detail else "Train job is not exist.")


def no_plugin(detail: str) -> ApiError:
    """A kind of values that there is not."""
    return ApiError(DATAVISUAL, 11, f"Plugin is not available. Detail: {detail}")


def no_graph() -> ApiError:
    """A run without a graph."""
    return ApiError(DATAVISUAL, 12, "Graph is not exist.")


_NO_TAG = "Invalid parameter value. Can not find any data in this train job by given tag."


def no_image(detail: str = _NO_TAG) -> ApiError:
    """An image that is not there."""
    return ApiError(DATAVISUAL, 13, f"Image is not exist. Detail: {detail}")


def no_scalar() -> ApiError:
    """A scalar that is not there."""
    return ApiError(DATAVISUAL, 14, f"Scalar value is not exist. Detail: {_NO_TAG}")


def no_histogram() -> ApiError:
    """A histogram that is not there."""
    return ApiError(DATAVISUAL, 15, f"Histogram value is not exist. Detail: {_NO_TAG}")


def null_byte(name: str) -> ApiError:
    """A name with a null byte."""
    return ApiError(DATAVISUAL, 17, f"Query string contains null byte error. Detail: train job id: {name} contains null byte.")


def no_tensor(detail: str = _NO_TAG) -> ApiError:
    """A tensor that is not there."""
    return ApiError(DATAVISUAL, 18, f"Tensor value is not exist. Detail: {detail}")


def too_much(detail: str) -> ApiError:
    """More data than a page can show."""
    return ApiError(DATAVISUAL, 19, f"Response data exceed max value. Detail: {detail}")


def no_step(step: int) -> ApiError:
    """A step without data."""
    return ApiError(DATAVISUAL, 20, f"Tensor data not in cache. Detail: this step: {step} data may has been dropped.")


def too_large(step: int) -> ApiError:
    """A tensor that is too big to show."""
    return ApiError(DATAVISUAL, 22, f"Tensor is too large to show on UI. Detail: Step: {step}")


NO_LANDSCAPE = ApiError(DATAVISUAL, 23, "Landscape value does not exist.").code
NO_RUN = no_run().code
WRONG_VALUE = wrong_value().code


def gone(name: str) -> ApiError:
    """A file that vanished after it was indexed."""
    return ApiError(GENERAL, 4, f"The file {name} is gone or cannot be read any more.", 410)
