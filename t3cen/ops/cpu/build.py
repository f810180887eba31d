"""C source to functions in this process: compiled once with the system's compiler, and kept in a folder of the user's."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-w")
LONGEST_S = 120


class UnavailableError(RuntimeError):
    """There is no compiled code to be had; the message says why."""


def library(source: str, fused: bool = False) -> ctypes.CDLL:
    """The compiled source, made at the first call on this machine and found again by later processes.

    Lines such as `#include "native.h"` bring in files of the folder `c`. Results change neither with the compiler nor with the
    processor, unless `fused` lets it round a product and a sum once.
    Files are whole or absent: they are renamed into place, and end in a digest of what comes before, which loaders ignore.
    Processes that compile the same at once overwrite each other with the same.

    Raises:
        UnavailableError: no compiler, a compiler that fails, or no place to write to.
    """
    source = _whole_source(source)
    flags = (*FLAGS, f"-ffp-contract={'fast' if fused else 'off'}")
    file = folder() / _name(source, flags)
    try:
        if not _whole(file):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _compile(source, flags, file)
        return ctypes.CDLL(str(file))
    except OSError as error:
        raise UnavailableError(f"{file} cannot be made or loaded: {error}; XDG_CACHE_HOME moves it") from error


def package_file(name: str) -> str:
    """The text of one of the C files in the folder `c`."""
    return resources.files("t3cen.ops.cpu").joinpath("csrc", name).read_text()


def folder() -> Path:
    """Where compiled code is kept: `t3cen` in `$XDG_CACHE_HOME`, `~/.cache` if that is not set.

    Raises:
        UnavailableError: neither is set, and the system knows no home of this user.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "t3cen"
    except RuntimeError as error:
        raise UnavailableError(f"no folder to keep compiled code in: {error}; set XDG_CACHE_HOME") from error


def compiler() -> list[str]:
    """The command of `$CC`, or the system's compiler.

    Raises:
        UnavailableError: there is none.
    """
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"no C compiler: {command[0]!r} is not found; install one or set CC")
    return command


def compiler_version() -> str:
    """What the compiler calls itself."""
    return _version(*compiler())


@functools.cache
def _version(*command: str) -> str:
    return _run([*command, "--version"]).partition("\n")[0]


def _whole_source(source: str) -> str:
    return re.sub(r'^#include "(.+)"$', lambda match: _whole_source(package_file(match[1])), source, flags=re.MULTILINE)


def _name(source: str, flags: tuple[str, ...]) -> str:
    key = "\n".join((source, *flags, compiler_version(), _processor()))
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"


def _compile(source: str, flags: tuple[str, ...], file: Path) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent, prefix="making-") as making:
        made = Path(making, "made.so")
        Path(making, "source.c").write_text(source)
        _run([*compiler(), *flags, "-o", str(made), str(Path(making, "source.c"))])
        content = made.read_bytes()
        made.write_bytes(content + hashlib.sha256(content).digest())
        made.replace(file)


def _whole(file: Path) -> bool:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return False
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=LONGEST_S
        ).stdout
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"{command[0]} failed: {error.stderr.strip()[-500:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{command[0]} cannot be run: {error}") from error


@functools.cache
def _processor() -> str:
    """Everything `-march=native` may look at."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    kinds = {line for line in lines if line.partition("\t")[0].rstrip() in ("model name", "flags", "Features", "CPU part")}
    return "\n".join((platform.machine(), platform.processor(), *sorted(kinds)))
