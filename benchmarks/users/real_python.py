"""Runs Python programs with the real package, each in a child of one process that has imported it.

    PYTHON real_python.py SOURCES SOCKET

PYTHON has torch and megatron-bridge 0.3.1; SOURCES is the linter's src, whose stand-ins for Transformer Engine and a
GPU are used. The configuration of a model on the Hugging Face hub is Llama's, for nothing is downloaded.
`ask_real_python.py` sends each program's words, folder and environment, and its three standard streams.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import runpy
import socket
import sys
import traceback
from collections.abc import Sequence


def import_upstream(sources: str) -> None:
    """Import what every program uses."""
    sys.path.insert(0, sources)
    import mfsdp_lint.dryrun.worker.stand_ins as stand_ins

    stand_ins.import_upstream()
    stand_ins.pretend("2.9.0")
    import megatron.bridge.recipes.llama
    import megatron.bridge.training.config
    import megatron.bridge.training.pretrain
    import transformers
    import yaml  # noqa: F401

    made = transformers.LlamaConfig(architectures=["LlamaForCausalLM"])
    transformers.AutoConfig.from_pretrained = lambda *arguments, **keywords: made
    megatron.bridge.recipes.llama.llama3_8b_pretrain_config()  # what is imported late
    sys.path.remove(sources)


def run(words: Sequence[str]) -> int:
    """Run a program as `python WORDS` does, and return its exit code."""
    sys.modules.pop("__main__", None)
    try:
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            sys.path.insert(0, "")
            exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
        elif words[0] == "-":
            sys.argv = list(words)
            sys.path.insert(0, "")
            exec(compile(sys.stdin.read(), "<stdin>", "exec"), {"__name__": "__main__"})
        elif words[0] == "-m":
            sys.argv = list(words[1:])
            sys.path.insert(0, os.getcwd())
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(words)
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(asked: socket.socket) -> None:
    """Run what one connection asks for in a child; send the exit code when it has ended."""
    streams = array.array("i")
    message, ancillary, _, _ = asked.recvmsg(1 << 20, socket.CMSG_LEN(3 * streams.itemsize))
    for _, _, data in ancillary:
        streams.frombytes(data)
    while not message.endswith(b"\n"):
        message += asked.recv(1 << 20)
    question = json.loads(message)
    if os.fork():
        for stream in streams:
            os.close(stream)
        asked.close()
        return
    child = os.fork()
    if not child:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, range(3), ("r", "w", "w"))
        os.chdir(question["folder"])
        os.environ.clear()
        os.environ.update(question["environment"])
        code = run(question["words"])
        for each in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                each.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    asked.sendall(bytes([os.waitstatus_to_exitcode(status) & 255]))
    os._exit(0)


def main() -> None:
    """Import, say so, and serve until standard input ends."""
    sources, place = sys.argv[1:]
    import_upstream(sources)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(64)
        listening.settimeout(5)
        print("ready", flush=True)
        while os.getppid() != 1:
            with contextlib.suppress(TimeoutError):
                asked, _ = listening.accept()
                asked.settimeout(None)
                serve(asked)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


if __name__ == "__main__":
    main()
