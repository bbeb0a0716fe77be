"""Starts the Workers once for all clients."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@contextlib.contextmanager
def served(*bundle):
    """The address of a Worker on the real runtime."""
    node = os.environ.get("NODE", "node_modules/.bin/node")
    server = subprocess.Popen(
        [node, "tests/support/serve.mjs", *bundle],
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


@pytest.fixture(scope="session")
def address():
    """The address of the Worker that is deployed."""
    with served() as url:
        yield url


@pytest.fixture(scope="session")
def fixtures_address():
    """The address of the Worker whose tools misbehave."""
    with served("target/fixtures") as url:
        yield url
