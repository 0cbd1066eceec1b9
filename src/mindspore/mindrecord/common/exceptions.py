"""The exceptions of MindRecord.

Each carries `error_msg`, and `error_code`: a number packed from where, how grave and what (bit fields below). Their
common base is `MindRecordException`.
"""

from __future__ import annotations

from .constant import SYS_ID
from .enums import ErrorCodeType, ErrorLevel, LogRuntime

# Exception name -> (number, message when the raiser gives none).
EXCEPTIONS: dict[str, tuple[int, str]] = {
    "UnknownError": (0, "Unknown Error."),
    "ParamTypeError": (1, "Param type is error."),
    "ParamValueError": (2, "Param value is error."),
    "ParamMissError": (3, "Param missing."),
    "PathNotExistsError": (4, "Path does not exist."),
    "DbConnectionError": (5, "Db connection is error."),
    "MRMOpenError": (100, "MindRecord File could not open successfully."),
    "MRMOpenForAppendError": (101, "MindRecord File could not open successfully for append."),
    "MRMInvalidPageSizeError": (102, "Failed to set page size."),
    "MRMInvalidHeaderSizeError": (103, "Failed to set header size."),
    "MRMSetHeaderError": (104, "Failed to set header."),
    "MRMWriteDatasetError": (105, "Failed to write dataset."),
    "MRMCommitError": (107, "Failed to commit."),
    "MRMLaunchError": (108, "Failed to launch."),
    "MRMFinishError": (109, "Failed to finish."),
    "MRMCloseError": (110, "Failed to close."),
    "MRMAddSchemaError": (111, "Failed to add schema."),
    "MRMAddIndexError": (112, "Failed to add index field."),
    "MRMBuildSchemaError": (113, "Failed to build schema."),
    "MRMGetMetaError": (114, "Failed to get meta info."),
    "MRMIndexGeneratorError": (115, "Failed to create index generator."),
    "MRMGenerateIndexError": (116, "Failed to generate index."),
    "MRMInitSegmentError": (117, "Failed to initialize segment."),
    "MRMFetchCandidateFieldsError": (118, "Failed to fetch candidate category fields."),
    "MRMReadCategoryInfoError": (119, "Failed to read category information."),
    "MRMFetchDataError": (120, "Failed to fetch data by category."),
    "MRMInvalidSchemaError": (200, "Schema is error."),
    "MRMValidateDataError": (201, "Raw data is not valid."),
    "MRMDefineIndexError": (202, "Index field is error."),
    "MRMDefineBlobError": (203, "Blob field is error."),
    "MRMUnsupportedSchemaError": (204, "Schema is not supported."),
    "MRMDefineCategoryError": (205, "Category field is error."),
}


class MindRecordException(Exception):
    """The base of every exception in this module."""

    def __init__(self, message: str | None = None):
        number, default = EXCEPTIONS.get(type(self).__name__, EXCEPTIONS["UnknownError"])
        self._error_msg = default if message is None else message
        self._error_code = self.transform_error_code(number)
        super().__init__(self._error_msg)

    def __str__(self) -> str:
        return f"[{type(self).__name__}]: {self._error_msg}"

    @property
    def error_msg(self) -> str:
        """What went wrong."""
        return self._error_msg

    @error_msg.setter
    def error_msg(self, message: str) -> None:
        self._error_msg = message

    @property
    def error_code(self) -> int:
        """The number of this error."""
        return self._error_code

    @staticmethod
    def transform_error_code(exception_no: int) -> int:
        """Pack an exception's number with the constant fields around it."""
        module = exception_no // 100 + 1
        fields = (
            (LogRuntime.RT_HOST, 30),
            (ErrorCodeType.ERROR_CODE, 28),
            (ErrorLevel.COMMON_LEVEL, 25),
            (SYS_ID, 17),
            (module, 12),
            (exception_no, 0),
        )
        return sum(value << shift for value, shift in fields)


class UnknownError(MindRecordException):
    """Something that no other exception names."""


class ParamValueError(MindRecordException):
    """An argument has a value that is not allowed."""

    def __init__(self, error_detail: object):
        super().__init__(f"Invalid parameter value. {error_detail}")


class ParamTypeError(MindRecordException):
    """An argument has the wrong type."""

    def __init__(self, param_name: str, expected_type: str):
        super().__init__(f"Invalid parameter type. '{param_name}' expect {expected_type} type.")


class ParamMissError(MindRecordException):
    """An argument is missing."""

    def __init__(self, param_name: str):
        super().__init__(f"Param missing. '{param_name}' is required.")


class PathNotExistsError(MindRecordException):
    """A file or folder is not there."""

    def __init__(self, error_path: str):
        super().__init__(f"Invalid path. {error_path}")


class DbConnectionError(MindRecordException):
    """The index cannot be opened."""

    def __init__(self, error_detail: object):
        super().__init__(f"Db connection is error. Detail: {error_detail}")


class MRMOpenError(MindRecordException):
    """A file cannot be opened."""


class MRMOpenForAppendError(MindRecordException):
    """A file cannot be opened for appending."""


class MRMInvalidPageSizeError(MindRecordException):
    """A page size is out of range."""


class MRMInvalidHeaderSizeError(MindRecordException):
    """A header size is out of range."""


class MRMSetHeaderError(MindRecordException):
    """The header cannot be set."""


class MRMWriteDatasetError(MindRecordException):
    """Rows cannot be written."""


class MRMCommitError(MindRecordException):
    """The files cannot be completed."""


class MRMLaunchError(MindRecordException):
    """The reader cannot start."""


class MRMFinishError(MindRecordException):
    """The reader cannot finish."""


class MRMCloseError(MindRecordException):
    """The files cannot be closed."""


class MRMAddSchemaError(MindRecordException):
    """A schema cannot be added."""


class MRMAddIndexError(MindRecordException):
    """An index field cannot be added."""


class MRMBuildSchemaError(MindRecordException):
    """A schema cannot be built."""


class MRMGetMetaError(MindRecordException):
    """There is no schema yet."""


class MRMIndexGeneratorError(MindRecordException):
    """The index cannot be created."""


class MRMGenerateIndexError(MindRecordException):
    """The index cannot be written."""


class MRMInitSegmentError(MindRecordException):
    """The page reader cannot start."""


class MRMFetchCandidateFieldsError(MindRecordException):
    """The fields to group by cannot be read."""


class MRMReadCategoryInfoError(MindRecordException):
    """The groups cannot be read."""


class MRMFetchDataError(MindRecordException):
    """The rows of a group cannot be read."""


class MRMInvalidSchemaError(MindRecordException):
    """A schema is malformed."""

    def __init__(self, error_detail: object):
        super().__init__(f"Schema format is error. Detail: {error_detail}")


class MRMValidateDataError(MindRecordException):
    """Rows do not fit the schema."""

    def __init__(self, error_detail: object):
        super().__init__(f"Raw data do not match the schema. Detail: {error_detail}")


class MRMDefineIndexError(MindRecordException):
    """A field cannot be an index field."""

    def __init__(self, error_detail: object):
        super().__init__(f"Failed to define index field. Detail: {error_detail}")


class MRMDefineBlobError(MindRecordException):
    """A field cannot be a blob field."""

    def __init__(self, error_detail: object):
        super().__init__(f"Failed to define blob field. Detail: {error_detail}")


class MRMUnsupportedSchemaError(MindRecordException):
    """Stored data does not fit its schema."""

    def __init__(self, error_detail: object):
        super().__init__(f"Schema is not supported. Detail: {error_detail}")


class MRMDefineCategoryError(MindRecordException):
    """A field cannot be grouped by."""

    def __init__(self, error_detail: object):
        super().__init__(f"Failed to define category field. Detail: {error_detail}")


__all__ = ["MindRecordException"]
__all__ += EXCEPTIONS  # noqa: PLE0605 - its keys, all strings
