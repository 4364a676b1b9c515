"""The commands that lit's tests run, started without the second that Python takes to import them.

A server imports them once, and forks for each command; what stands in PATH under the name of a
command hands its standard files, arguments and environment to the server, and ends as the fork does.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from ast import literal_eval
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

COMMANDS = {
    "tile-opt": "tiledialect.tools.tile_opt",
    "tile-explore": "tiledialect.tools.tile_explore",
    "tile-run": "tiledialect.tools.tile_run",
    "xdsl-opt": "xdsl.tools.xdsl_opt",
    "filecheck": "filecheck.main",
}
"""Names of commands, and the modules that have their `main`."""

ROOT = Path(__file__).parents[2]
WARM_UP = (
    ("examples/stencil.mlir", "-p", "tile-compile"),
    (
        *("test/tools/Inputs/pool.tile", "-t", "opencl"),
        *("-p", 'tile-specialize{arguments="8xf32"},tile-compile'),
    ),
)
"""Arguments of `tile-opt` before the first fork: Python's answers about classes, which it keeps, are
most of the time of a command."""

STANDARD_FILES = (0, 1, 2)

CLIENT = """#!{python} -IS
import _socket, os, sys
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
command = {{"argv": ["{name}", *sys.argv[1:]], "cwd": os.getcwd(), "environ": dict(os.environ)}}
files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([b"files"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
server.sendall(ascii(command).encode())
server.shutdown(_socket.SHUT_WR)
status = server.recv(1)
sys.exit(status[0] if status else "the command ended without a status")
"""


def start(environment: Mapping[str, str]) -> Path:
    """Start a server, which ends with this process, and give the folder with the commands.

    The folder is one of its own, as several servers may run, and the path of a socket is short.
    """
    folder = Path(tempfile.mkdtemp(prefix="tools-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = str(folder / "server")
    arguments = [sys.executable, __file__, address]
    server = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**environment}
    )
    atexit.register(server.terminate)
    assert server.stdout is not None
    assert server.stdout.read() == b"ready", "the tools cannot be imported"
    for name in COMMANDS:
        client = folder / name
        client.write_text(CLIENT.format(python=sys.executable, address=address, name=name))
        client.chmod(0o755)
    return folder


def _run(connection: socket.socket) -> int:
    """Become the command that a client asks for."""
    _, files, _, _ = socket.recv_fds(connection, len(b"files"), len(STANDARD_FILES))
    with connection.makefile("rb") as request:
        command = literal_eval(request.read().decode())
    for file, number in zip(files, STANDARD_FILES, strict=True):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    os.chdir(command["cwd"])
    os.environ.clear()
    os.environ.update(command["environ"])
    sys.argv = command["argv"]
    try:
        sys.exit(importlib.import_module(COMMANDS[sys.argv[0]]).main())
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _warm_up(arguments: Sequence[str]) -> None:
    file, *options = arguments
    sys.argv = ["tile-opt", str(ROOT / file), *options]
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        importlib.import_module(COMMANDS["tile-opt"]).main()


def _serve(address: str) -> None:
    """Import all commands, and fork for each client."""
    for module in COMMANDS.values():
        importlib.import_module(module)
    universe = importlib.import_module("tiledialect.universe").full_universe()
    for make in (*universe.all_dialects.values(), *universe.all_passes.values()):
        make()
    for arguments in WARM_UP:
        _warm_up(arguments)
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen(64)
    os.write(1, b"ready")
    os.close(1)
    os.open(os.devnull, os.O_WRONLY)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    while True:
        connection, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            status = _run(connection)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            connection.sendall(bytes([status]))
            os._exit(status)
        connection.close()


if __name__ == "__main__":
    _serve(sys.argv[1])
