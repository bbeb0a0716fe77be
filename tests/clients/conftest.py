"""Starts the Worker once for all clients."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def address():
    """The address of a Worker on the real runtime."""
    node = os.environ.get("NODE", "node_modules/.bin/node")
    server = subprocess.Popen(
        [node, "tests/support/serve.mjs"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), "the Worker did not start"
        yield url
    finally:
        server.stdin.close()
        assert server.wait(timeout=30) == 0
