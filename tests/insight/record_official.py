"""Ask official MindInsight (2.3.1, in an environment of its own) what `REQUESTS` of the samples ask, and keep its replies.

python tests/insight/record_official.py
"""

import io
import json
import os
import tempfile
import time
from pathlib import Path

import sample_explanations
import sample_profiles

HERE = Path(__file__).parent


def ask(client, method, address, query, body):
    """A reply; graphs of stages are read in the background and asked for until they are there."""
    while True:
        if method == "POST":
            reply = client.post(address, query_string=query, json=body)
        else:
            reply = client.get(address, query_string=query)
        if method == "IMAGE":
            return pixels(reply.get_data())
        content = json.loads(reply.get_data())
        if not isinstance(content, dict) or content.get("status") not in ("pending", "loading"):
            return content if reply.status_code == 200 else {"status": reply.status_code, **content}
        time.sleep(0.2)


def pixels(data):
    """An image as its mode and its numbers."""
    from PIL import Image

    found = Image.open(io.BytesIO(data))
    return {"mode": found.mode, "size": list(found.size), "pixels": list(found.tobytes())}


def record(client, base, requests, name):
    found = []
    for method, path, query, body in requests:
        reply = ask(client, method, "/v1/mindinsight/" + path, query, body)
        reply = json.loads(json.dumps(reply).replace(str(base), "."))
        found.append({"method": method, "path": path, "query": query, "body": body, "reply": reply})
        print(method, path, query, body, "->", json.dumps(reply)[:300])
    (HERE / name).write_text(json.dumps(found, indent=1) + "\n")


def main():
    base = Path(tempfile.mkdtemp())
    sample_profiles.build(base / "trained")
    sample_profiles.build_pipeline(base / "pipe")
    sample_explanations.build(base)
    os.environ["MINDINSIGHT_SUMMARY_BASE_DIR"] = str(base)
    os.environ["MINDINSIGHT_WORKSPACE"] = tempfile.mkdtemp()
    from mindinsight.conf import settings

    settings.SUMMARY_BASE_DIR = str(base)
    from mindinsight.backend.application import create_app
    from werkzeug.test import Client

    client = Client(create_app())
    record(client, base, sample_profiles.REQUESTS, "official_profile_replies.json")
    record(client, base, sample_explanations.REQUESTS, "official_explainer_replies.json")


if __name__ == "__main__":
    main()
