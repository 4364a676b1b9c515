"""The commands that tests run, and Python, without the second that it takes to import the package.

A server imports it once, and forks for each command; what stands in a folder under the name of a
command hands its standard files, arguments and environment to the server, and ends as the fork does.
The fork of one that is killed is killed, too.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import warnings
from ast import literal_eval
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

COMMANDS = {
    "tile-opt": "tiledialect.tools.tile_opt",
    "tile-explore": "tiledialect.tools.tile_explore",
    "tile-run": "tiledialect.tools.tile_run",
    "xdsl-opt": "xdsl.tools.xdsl_opt",
    "filecheck": "filecheck.main",
}
"""Names of commands, and the modules that have their `main`."""
PYTHON = "ready-python"
"""Name of the command that stands for Python, with `-c` or a file, and the options `-P` and `-W`."""
FOR_DEVICES = (
    *("pyopencl.array", "tiledialect.api.function", "tiledialect.api.front_door"),
    *(
        "tiledialect.lowering.runtime.device.battery_run",
        "tiledialect.lowering.runtime.call.launch",
    ),
    *("tiledialect.lowering.runtime.program.isolation", "tiledialect.schedule.search.choice"),
    "tiledialect.lowering.runtime.program.processes",
)
"""Modules that commands import which use devices: the server itself must use none."""

ROOT = Path(__file__).parents[2]
SET_BY_IMPORTS = ("PYOPENCL_HOME",)
"""Variables that modules set for libraries when they are imported."""
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
import _signal, _socket, os, sys
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
command = {{"argv": ["{name}", *sys.argv[1:]], "cwd": os.getcwd(), "environ": dict(os.environ)}}
files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([b"files"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
server.sendall(ascii(command).encode())
server.shutdown(_socket.SHUT_WR)
status = server.recv(2)
if not status:
    sys.exit("the server of the commands has ended")
status = int.from_bytes(status, "little", signed=True)
if status >= 0:
    sys.exit(status)
if -status != _signal.SIGKILL:
    _signal.signal(-status, _signal.SIG_DFL)
os.kill(os.getpid(), -status)
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
    for name in (*COMMANDS, PYTHON):
        client = folder / name
        client.write_text(CLIENT.format(python=sys.executable, address=address, name=name))
        client.chmod(0o755)
    return folder


@cache
def commands() -> Path:
    """The folder with the commands of this process's server."""
    return start(os.environ)


def python() -> str:
    """Python for a process of its own, whose start is not what is tested."""
    return str(commands() / PYTHON)


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
    own = {name: os.environ[name] for name in SET_BY_IMPORTS if name in os.environ}
    os.environ.clear()
    os.environ.update(own | command["environ"])
    sys.argv = command["argv"]
    name = sys.argv[0]
    try:
        sys.exit(_python() if name == PYTHON else importlib.import_module(COMMANDS[name]).main())
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _python() -> None:
    """Run what the arguments name, as Python does."""
    arguments, folder = sys.argv[1:], [""]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    while (option := arguments.pop(0)) in ("-P", "-W"):
        if option == "-P":
            folder = []
        else:
            warnings.simplefilter(arguments.pop(0))  # pyright: ignore[reportArgumentType]
    if option != "-c":
        sys.argv = [option, *arguments]
        sys.path[:0] = [str(Path(option).parent)]
        runpy.run_path(option, run_name="__main__")
        return
    code, *rest = arguments
    sys.argv = ["-c", *rest]
    sys.path[:0] = folder
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), main.__dict__)


def _end(status: int) -> None:
    """End a fork as Python ends, but for its memory."""
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _warm_up(arguments: Sequence[str]) -> None:
    file, *options = arguments
    sys.argv = ["tile-opt", str(ROOT / file), *options]
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        importlib.import_module(COMMANDS["tile-opt"]).main()


def _serve(address: str) -> None:
    """Import all commands, and fork for each client."""
    for module in (*COMMANDS.values(), *FOR_DEVICES):
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
    gc.freeze()
    _Forks(server).loop()


def _wake(number: int, frame: object) -> None:
    pass


class _Forks:
    """The forks of a server, and the clients that wait for them."""

    def __init__(self, server: socket.socket):
        self.server = server
        self.clients = dict[int, socket.socket]()
        """By the numbers of the forks."""
        self.ended, self.wakes = socket.socketpair()
        for end in (self.ended, self.wakes):
            end.setblocking(False)
        # A signal that is ignored would wake nobody.
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(self.wakes.fileno(), warn_on_full_buffer=False)
        self.poll = select.poll()
        self.poll.register(server, select.POLLIN)
        self.poll.register(self.ended, select.POLLIN)

    def loop(self) -> None:
        while True:
            for file, _ in self.poll.poll():
                if file == self.server.fileno():
                    self.fork()
                elif file == self.ended.fileno():
                    self.ended.recv(4096)
                    self.reap()
                else:
                    self.hung_up(file)

    def fork(self) -> None:
        connection, _ = self.server.accept()
        if number := os.fork():
            self.clients[number] = connection
            # A client that only sends no more has not gone.
            self.poll.register(connection, 0)
            return
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for file in (self.server, self.ended, self.wakes, *self.clients.values()):
            file.close()
        _end(_run(connection))

    def reap(self) -> None:
        """Tell clients how their forks have ended."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                number, status = found
                code = os.waitstatus_to_exitcode(status)
                with self.clients.pop(number) as client, suppress(OSError, KeyError):
                    self.poll.unregister(client)
                    client.sendall(code.to_bytes(2, "little", signed=True))

    def hung_up(self, file: int) -> None:
        """Kill the fork of a client that is gone."""
        for number, client in self.clients.items():
            if client.fileno() == file:
                self.poll.unregister(client)
                os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    _serve(sys.argv[1])
