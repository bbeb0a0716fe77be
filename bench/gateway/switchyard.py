"""Serves Switchyard's routes until it is ended: switchyard.py routes.toml port"""

import signal
import sys

from switchyard_rust.server import Server

with Server(sys.argv[1], int(sys.argv[2])):
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
