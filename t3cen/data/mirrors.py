"""One file from one server: gone on with where it stopped, and kept only if it is the published one."""

from __future__ import annotations

import http.client
import logging
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from t3cen.data.checksums import checksum
from t3cen.progress import counted_bytes

log = logging.getLogger(__name__)
BLOCK = 1 << 20


@dataclass(frozen=True)
class Remote:
    """A file to download.

    Attributes:
        urls: mirrors, tried in this order.
        size: bytes, where known.
        md5, sha256: published checksums, where known.
    """

    urls: Sequence[str]
    size: int | None = None
    md5: str | None = None
    sha256: str | None = None

    @property
    def name(self) -> str:
        return self.urls[0].rstrip("/").rsplit("/", 1)[-1]

    @property
    def proves(self) -> bool:
        """Whether a checksum is known."""
        return bool(self.md5 or self.sha256)


class MirrorFailed(Exception):
    """One mirror did not send the file; the message says why, in one line."""


@contextmanager
def _network() -> Iterator[None]:
    """Errors of the network as `MirrorFailed`: also those that are no OSError, such as a cut chunk or a bad status line."""
    try:
        yield
    except urllib.error.HTTPError as error:
        raise MirrorFailed(f"the server answers {error.code} {' '.join(error.reason.split())}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise MirrorFailed(f"no connection ({' '.join(str(reason).split())})") from error


def receive(url: str, target: Path, remote: Remote, timeout: float) -> None:
    """Get `target` from one mirror: the rest of its part, if the server knows how to go on, or all of it."""
    part = target.with_name(target.name + ".part")
    have = part.stat().st_size if part.exists() else 0
    if have and have == remote.size and difference(remote, part) is None:
        os.replace(part, target)
        return
    if remote.size is not None and have >= remote.size:
        part.unlink(missing_ok=True)  # going on from wrong bytes can never end well
        have = 0
    headers = {"User-Agent": "t3cen", **({"Range": f"bytes={have}-"} if have else {})}
    try:
        with _network():
            answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)
    except MirrorFailed as failure:
        if not have or getattr(failure.__cause__, "code", None) != 416:
            raise
        # nothing follows what has come: it is the file, or never was
        if remote.proves and difference(remote, part) is None:
            os.replace(part, target)
            return
        part.unlink()
        return receive(url, target, remote, timeout)
    with answer:
        goes_on = answer.status == 206
        # beside what has come, which is worth more than an error page
        growing = part if goes_on or not have else target.with_name(target.name + ".anew.part")
        total = _announced(answer, remote, have if goes_on else 0)
        try:
            with counted_bytes(target.name, total or remote.size, have if goes_on else 0) as progress:
                _store(answer, growing, "ab" if goes_on else "wb", remote.size, progress.update)
            got = growing.stat().st_size
            if got < max(total, remote.size or 0):
                raise MirrorFailed(f"no connection (it ended after {got:,} of {max(total, remote.size or 0):,} bytes)")
            wrong = difference(remote, growing)
            if wrong is None:
                os.replace(growing, target)
                part.unlink(missing_ok=True)
                log.info("received %s, %s bytes", target.name, f"{got:,}")
                return
            growing.unlink()
        finally:
            if growing != part and growing.exists():  # broken off: the longer of the two is kept
                os.replace(growing, part) if growing.stat().st_size > have else growing.unlink()
    if goes_on and have:
        return receive(url, target, remote, timeout)  # the part from before may have been the wrong one
    raise MirrorFailed(f"what came {wrong}")


def _announced(answer: http.client.HTTPResponse, remote: Remote, have: int) -> int:
    """Bytes of the whole file as the server announces them, 0 if it does not.

    Raises:
        MirrorFailed: what it announces is not the file.
    """
    if answer.status not in (200, 206):
        raise MirrorFailed(f"the server answers {answer.status} {answer.reason}")
    if answer.headers.get_content_type() == "text/html":
        raise MirrorFailed("the server sends a web page instead of the file")
    total = have + answer.length if answer.length else 0
    if span := re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", "")):
        if int(span[1]) != have:
            raise MirrorFailed(f"the server goes on at byte {span[1]}, {have} asked for")
        total = int(span[2]) if span[2] != "*" else total
    if total and remote.size is not None and total != remote.size:
        raise MirrorFailed(f"the server has a file of {total:,} bytes, {remote.size:,} expected")
    return total


def _store(answer: http.client.HTTPResponse, path: Path, mode: str, limit: int | None, came: Callable[[int], object]) -> None:
    """Append what comes to a file, up to `limit` bytes and no more than one block beyond, and tell how many bytes came."""
    with path.open(mode) as file:
        while True:
            with _network():
                block = answer.read1(BLOCK)  # what is there, so that little is lost when the connection breaks
            file.write(block)
            came(len(block))
            if not block or (limit is not None and file.tell() > limit):
                return


def difference(remote: Remote, path: Path) -> str | None:
    """What tells a file from the published one, or None where nothing does."""
    size = path.stat().st_size
    if remote.size is not None and size != remote.size:
        return f"has {size:,} bytes, {remote.size:,} expected"
    for name, expected in (("md5", remote.md5), ("sha256", remote.sha256)):
        if expected is not None:
            found = checksum(path, name)
            if found != expected:
                return f"has {name} {found}, {expected} expected"
    return None
