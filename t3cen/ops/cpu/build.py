"""C source to functions in this process: compiled once with the system's compiler, kept in a folder of this user's alone."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import warnings
from importlib import resources
from pathlib import Path

from t3cen.ops import kernels

FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")
LONGEST_S = 120
_warned: list[str] = []


class UnavailableError(RuntimeError):
    """There is no compiled code to be had; the message says why."""


def load(source: str, fused: bool = False) -> ctypes.CDLL | None:
    """The compiled source, made at the first call on this machine and found again by later processes.

    Lines such as `#include "native.h"` bring in files of the folder `csrc`. Results change neither with the compiler nor with
    the processor, unless `fused` lets it round a product and a sum once.

    Returns:
        None if kernels are `"off"`, and if they are `"auto"` and it cannot be made: the first time with a warning.

    Raises:
        UnavailableError: kernels are `"on"`, and there is no compiler, one that fails, or no safe place to write to.
    """
    if kernels.mode() == "off":
        return None
    made = _library(source, fused)
    if isinstance(made, ctypes.CDLL):
        return made
    if kernels.mode() == "on":
        raise UnavailableError(f"kernels are 'on': {made}")
    if not _warned:
        _warned.append(made)
        warnings.warn(f"nothing is compiled, and layers are slower for it: {made}", stacklevel=2)
    return None


def package_file(name: str) -> str:
    """The text of one of the C files in the folder `csrc`."""
    return resources.files("t3cen.ops.cpu").joinpath("csrc", name).read_text()


def reason_for_none() -> str:
    """Why nothing can be compiled here; empty if something can."""
    made = _library("int answer(void) { return 42; }", False)
    return "" if isinstance(made, ctypes.CDLL) else made


def compiler_version() -> str:
    """What the compiler calls itself: that of `$CC`, or the system's.

    Raises:
        UnavailableError: there is none.
    """
    return _version(*_compiler())


@functools.cache
def _version(*command: str) -> str:
    return _run([*command, "--version"]).partition("\n")[0]


def folder() -> Path:
    """Where compiled code is kept, made if need be: `t3cen` in `$XDG_CACHE_HOME`, `~/.cache` if that is not set.

    Whoever can write there can run code as this user, so nobody else may.

    Raises:
        UnavailableError: somebody else can write there, or neither is set and the system knows no home of this user.
    """
    if os.name != "posix":
        raise UnavailableError("compiled code is kept on POSIX systems alone")
    try:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        raise UnavailableError(f"no folder to keep compiled code in: {error}; set XDG_CACHE_HOME") from error
    Path(caches, "t3cen").mkdir(mode=0o700, parents=True, exist_ok=True)
    made = Path(caches, "t3cen").resolve()
    if not _private(made):
        raise UnavailableError(f"{made} is not this user's alone, it may hold any code: remove it or set XDG_CACHE_HOME")
    mode = made.parent.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise UnavailableError(f"everybody can rename {made}: `chmod o-w {made.parent}`, or set XDG_CACHE_HOME")
    return made


@functools.cache
def _library(source: str, fused: bool) -> ctypes.CDLL | str:
    """The compiled source, or why there is none.

    Files are whole or absent: they are renamed into place, and end in a digest of what comes before, which loaders ignore.
    Processes that compile the same at once overwrite each other with the same.
    """
    source = _whole_source(source)
    flags = (*FLAGS, f"-ffp-contract={'fast' if fused else 'off'}")
    try:
        name = _name(source, flags)
        file = folder() / name
        if not _ours_and_whole(file):
            _compile(source, flags, file)
        return ctypes.CDLL(str(file))
    except UnavailableError as error:
        return str(error)
    except OSError as error:
        return f"compiled code cannot be kept or loaded: {error}; XDG_CACHE_HOME moves it"


def _whole_source(source: str) -> str:
    return re.sub(r'^#include "(.+)"$', lambda match: _whole_source(package_file(match[1])), source, flags=re.MULTILINE)


def _name(source: str, flags: tuple[str, ...]) -> str:
    key = "\n".join((source, *flags, compiler_version(), _processor()))
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"


def _compiler() -> list[str]:
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"no C compiler: {command[0]!r} is not found; install one or set CC")
    return command


def _compile(source: str, flags: tuple[str, ...], file: Path) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent, prefix="making-") as making:
        made = Path(making, "made.so")
        Path(making, "source.c").write_text(source)
        _run([*_compiler(), *flags, "-o", str(made), str(Path(making, "source.c"))])
        content = made.read_bytes()
        made.write_bytes(content + hashlib.sha256(content).digest())
        made.chmod(0o700)
        made.replace(file)


def _ours_and_whole(file: Path) -> bool:
    if not file.is_file() or file.is_symlink() or not _private(file):
        return False
    content = file.read_bytes()
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


def _private(place: Path) -> bool:
    """Whether this user has it, and nobody else can write to it."""
    there = place.stat()
    return there.st_uid == os.getuid() and not there.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


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
