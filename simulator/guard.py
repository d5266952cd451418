"""Ends a state folder's processes when the process that started them, and holds our input open, is gone."""

import sys
from pathlib import Path

from simulator.processes import Processes

if __name__ == "__main__":
    sys.stdin.buffer.read()
    Processes(Path(sys.argv[1])).stop()
