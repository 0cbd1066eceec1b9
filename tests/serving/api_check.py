"""schemathesis against a server of a servable and a tiny language model: python tests/serving/api_check.py PATH_OF_SCHEMATHESIS"""

import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tiny_models

from conftest import ADD, export, write_tokenizer
from mindspore_serving.engine.dispatcher import Deployment
from mindspore_serving.engine.location import Location
from mindspore_serving.llm.language_model import LanguageModel
from mindspore_serving.server.config import Wanted
from mindspore_serving.server.host import Host

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def server(folder):
    """(server, its HTTP address)."""
    (folder / "add" / "1").mkdir(parents=True)
    (folder / "add" / "servable_config.py").write_text("from mindspore_serving.server import register\n" + textwrap.dedent(ADD))
    export(folder / "add" / "1" / "add.mindir")
    tiny_models.write(folder / "tiny", "llama")
    write_tokenizer(folder / "tiny")
    host = Host()
    host.deploy([Wanted(Deployment(Location(str(folder), "add", 1)), {0})])
    host.add_language_model(LanguageModel(str(folder / "tiny")))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    host.start_http(address, 4, None)
    return host, f"http://{address}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        host, address = server(Path(folder))
        try:
            command = [sys.argv[1], "run", f"{address}/openapi.json", "--checks", CHECKS, "--request-timeout", "30"]
            sys.exit(subprocess.run([*command, "--max-examples", "30"], check=False).returncode)
        finally:
            host.stop()


if __name__ == "__main__":
    main()
