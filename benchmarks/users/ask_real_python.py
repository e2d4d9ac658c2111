"""Has `real_python.py` run a program, in place of a Python that would first have to import torch."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(os.environ["REAL_PYTHON"])
    question = {"words": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}
    socket.send_fds(asked, [json.dumps(question).encode() + b"\n"], [0, 1, 2])
    answer = asked.recv(1)
sys.exit(answer[0] if answer else 1)
