"""Ask official MindInsight (2.3.1, in an environment of its own) what `sample_profiles.REQUESTS` ask, and keep its replies.

python tests/insight/record_official_profiles.py
"""

import json
import os
import tempfile
from pathlib import Path

from sample_profiles import REQUESTS, build

HERE = Path(__file__).parent


def main():
    base = Path(tempfile.mkdtemp())
    build(base / "trained")
    os.environ["MINDINSIGHT_SUMMARY_BASE_DIR"] = str(base)
    os.environ["MINDINSIGHT_WORKSPACE"] = tempfile.mkdtemp()
    from mindinsight.conf import settings

    settings.SUMMARY_BASE_DIR = str(base)
    from mindinsight.backend.application import create_app
    from werkzeug.test import Client

    client = Client(create_app())
    found = []
    for method, path, query, body in REQUESTS:
        address = "/v1/mindinsight/" + path
        reply = (
            client.get(address, query_string=query)
            if method == "GET"
            else client.post(address, query_string=query, json=body)
        )
        content = json.loads(reply.get_data())
        if reply.status_code != 200:
            content = {"status": reply.status_code, **content}
        found.append(
            {
                "method": method,
                "path": path,
                "query": query,
                "body": body,
                "reply": content,
            }
        )
        print(method, path, query, body, "->", json.dumps(content)[:300])
    (HERE / "official_profile_replies.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
