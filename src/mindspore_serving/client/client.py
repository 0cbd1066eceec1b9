"""A client of the official gRPC service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import numpy as np

from mindspore_serving.checks import check_int, check_str
from mindspore_serving.protocols.official import BYTES, NUMBERS, SERVICE, STRING, read, schema, write

_LIMIT = 512 * 1024 * 1024


class SSLConfig:
    """Files for an encrypted connection: the client's certificate and key, and the authority that the server's is checked by."""

    def __init__(self, certificate: str | None = None, private_key: str | None = None, custom_ca: str | None = None) -> None:
        for name, value in (("certificate", certificate), ("private_key", private_key), ("custom_ca", custom_ca)):
            if value is not None:
                check_str(name, value)
        self.certificate = certificate
        self.private_key = private_key
        self.custom_ca = custom_ca

    def credentials(self) -> grpc.ChannelCredentials:
        if (self.certificate is None) != (self.private_key is None):
            raise RuntimeError("The certificate and private_key should be passed at the same time")
        files = (self.custom_ca, self.private_key, self.certificate)
        return grpc.ssl_channel_credentials(*(Path(file).read_bytes() if file is not None else None for file in files))


class Client:
    """A connection to one method of a servable.

    >>> client = Client("localhost:5500", "add", "add_cast")
    >>> client.infer({"x1": np.ones((2, 2)), "x2": np.ones((2, 2))})
    [{'y': array([[2., 2.], [2., 2.]], dtype=float32)}]
    """

    def __init__(
        self, address: str, servable_name: str, method_name: str, version_number: int = 0, ssl_config: SSLConfig | None = None
    ) -> None:
        check_str("address", address)
        check_str("servable_name", servable_name)
        check_str("method_name", method_name)
        check_int("version_number", version_number, 0)
        self.address = address
        self.servable_name = servable_name
        self.method_name = method_name
        self.version_number = version_number
        options = [
            ("grpc.max_send_message_length", _LIMIT),
            ("grpc.max_receive_message_length", _LIMIT),
            ("grpc.use_local_subchannel_pool", 1),  # a connection of its own: another client's failure would be waited for
        ]
        if ssl_config is None:
            self.channel = grpc.insecure_channel(address, options=options)
        elif isinstance(ssl_config, SSLConfig):
            self.channel = grpc.secure_channel(address, ssl_config.credentials(), options=options)
        else:
            raise RuntimeError("The type of ssl_config should be type of SSLConfig")
        self.stub: Any = _Stub(self.channel)

    def infer(self, instances: Any) -> Any:
        """The answers to one instance (a dict of inputs) or several: a list of dicts; {"error": …} where something failed."""
        return self.infer_async(instances).result()

    def infer_async(self, instances: Any) -> ClientGrpcAsyncResult:
        """Send a request; its answers are the `result()` of what is returned."""
        return ClientGrpcAsyncResult(self.stub.Predict.future(self._request(instances)))

    def _request(self, instances: Any) -> Any:
        request = schema()["PredictRequest"]()
        spec = request.servable_spec
        spec.name, spec.method_name, spec.version_number = self.servable_name, self.method_name, self.version_number
        for instance in instances if isinstance(instances, (tuple, list)) else (instances,):
            if not isinstance(instance, dict):
                raise RuntimeError("instance should be a map")
            items = request.instances.add().items
            for name, value in instance.items():
                write(items[name], _value(value))
        return request

    def close(self) -> None:
        self.channel.close()


class _Stub:
    """The calls of the service."""

    def __init__(self, channel: grpc.Channel) -> None:
        messages = schema()
        self.Predict = channel.unary_unary(
            f"/{SERVICE}/Predict",
            request_serializer=messages["PredictRequest"].SerializeToString,
            response_deserializer=messages["PredictReply"].FromString,
        )


class ClientGrpcAsyncResult:
    """Answers that are on their way."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self) -> Any:
        try:
            return _answers(self._future.result())
        except grpc.RpcError as error:
            call: Any = error
            return {"error": f"Grpc Error, {call.code().value}, {call.details()}"}


def _value(given: Any) -> Any:
    if isinstance(given, (str, bytes)):
        return given
    if isinstance(given, (bool, int, float)):
        return np.array([given])
    if not isinstance(given, (np.ndarray, np.number, np.bool_)):
        raise RuntimeError("Not support value type " + str(type(given)))
    array = np.asarray(given)
    if array.dtype.name not in NUMBERS:
        raise RuntimeError("Unknown data type " + str(array.dtype))
    return array


def _answers(reply: Any) -> Any:
    errors = reply.error_msg
    if len(errors) == 1 and errors[0].error_code:
        return {"error": errors[0].error_msg.decode()}
    if len(errors) not in (0, len(reply.instances)):
        raise RuntimeError(f"error msg result size {len(errors)} not be 0, 1 or length of instances {len(reply.instances)}")
    return [
        {"error": errors[number].error_msg.decode()}
        if errors and errors[number].error_code
        else {name: _read(tensor) for name, tensor in instance.items.items()}
        for number, instance in enumerate(reply.instances)
    ]


def _read(tensor: Any) -> Any:
    if tensor.dtype in (STRING, BYTES) and len(tensor.bytes_val) != 1:
        return [data.decode() if tensor.dtype == STRING else data for data in tensor.bytes_val]
    return read(tensor)
