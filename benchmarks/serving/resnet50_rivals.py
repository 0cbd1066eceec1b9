"""ResNet-50 behind what others serve with, for `resnet50.py`: `python resnet50_rivals.py fastapi|ray MODEL.onnx PORT`.

    python -m venv rivals && rivals/bin/pip install fastapi uvicorn uvloop httptools onnxruntime 'ray[serve]' numpy

A request is an image, 3 x 224 x 224 numbers of float32; the answer its 1,000 scores. FastAPI runs ONNX Runtime in a thread per request
(as its documentation has it for functions that compute), Ray Serve joins up to eight requests by its decorator.
"""

import os
import sys

import numpy as np

SHAPE = (3, 224, 224)


def session(path):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = os.cpu_count() or 1
    return onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])


def run_fastapi(path, port):
    import fastapi
    import uvicorn
    from starlette.concurrency import run_in_threadpool

    model, application = session(path), fastapi.FastAPI()
    name = model.get_inputs()[0].name

    def scores(body):
        return model.run(None, {name: np.frombuffer(body, np.float32).reshape(1, *SHAPE)})[0].tobytes()

    @application.post("/")
    async def classify(request: fastapi.Request):
        found = await run_in_threadpool(scores, await request.body())
        return fastapi.Response(found, media_type="application/octet-stream")

    uvicorn.run(application, port=port, http="httptools", loop="uvloop", access_log=False, log_level="error")


def run_ray(path, port):
    import time

    import ray
    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response

    @serve.deployment(max_ongoing_requests=64)
    class Classifier:
        def __init__(self):
            self.model = session(path)
            self.name = self.model.get_inputs()[0].name

        @serve.batch(max_batch_size=8, batch_wait_timeout_s=0.005)
        async def scores(self, bodies):
            images = np.stack([np.frombuffer(body, np.float32).reshape(SHAPE) for body in bodies])
            return [row.tobytes() for row in self.model.run(None, {self.name: images})[0]]

        async def __call__(self, request: Request):
            return Response(await self.scores(await request.body()), media_type="application/octet-stream")

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(Classifier.bind(), name="resnet", route_prefix="/")
    while True:
        time.sleep(1)


if __name__ == "__main__":
    {"fastapi": run_fastapi, "ray": run_ray}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
