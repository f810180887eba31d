"""Files from the network and archives, whole or not at all."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from t3cen.data.errors import DataError

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


def fetch(remote: Remote, target: Path, timeout: float = 60.0) -> Path:
    """Download a file; an interrupted download goes on where it stopped.

    It grows under the name `<target>.part` and gets its own name only when its size and checksum are right.

    Raises:
        DataError: no mirror has it, the connection broke, or what came is not the published file.
    """
    if target.exists():
        verify(remote, target)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    failures = []
    for url in remote.urls:
        try:
            _receive(url, part, remote, timeout)
        except urllib.error.HTTPError as error:
            failures.append(f"{url}: the server answers {error.code} {error.reason}")
        except (urllib.error.URLError, TimeoutError, ConnectionError, OSError) as error:
            failures.append(f"{url}: no connection ({getattr(error, 'reason', error)})")
        else:
            try:
                verify(remote, part)
            except DataError:
                part.unlink()  # going on from wrong bytes can never end well
                raise
            os.replace(part, target)
            return target
    raise DataError(
        f"{target.name} could not be downloaded. " + "; ".join(failures) + ". What has come is kept; try again later."
    )


def _receive(url: str, part: Path, remote: Remote, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have and have == remote.size:
        return
    request = urllib.request.Request(url, headers={"User-Agent": "t3cen", **({"Range": f"bytes={have}-"} if have else {})})
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:
            raise
        if not _proven(remote, part):  # nothing follows what has come, and that is not the file
            part.unlink()
            _receive(url, part, remote, timeout)
        return
    with answer:
        # 206: the server goes on from where we stopped; 200: it begins again
        mode = "ab" if answer.status == 206 else "wb"
        expected = int(answer.headers.get("Content-Length") or 0) + (have if mode == "ab" else 0)
        with part.open(mode) as file:
            shutil.copyfileobj(answer, file, BLOCK)
    got = part.stat().st_size
    if expected and got < expected:
        raise ConnectionError(f"the connection ended after {got:,} of {expected:,} bytes")
    log.info("received %s, %s bytes", part.name.removesuffix(".part"), f"{got:,}")


def verify(remote: Remote, path: Path) -> None:
    """Compare a file with its published size and checksums.

    Raises:
        DataError: it differs.
    """
    size = path.stat().st_size
    if remote.size is not None and size != remote.size:
        raise DataError(f"{path} has {size:,} bytes, {remote.size:,} expected; delete it and download again")
    for name, expected in (("md5", remote.md5), ("sha256", remote.sha256)):
        if expected is not None:
            found = checksum(path, name)
            if found != expected:
                raise DataError(f"{path} has {name} {found}, {expected} expected; delete it and download again")


def _proven(remote: Remote, path: Path) -> bool:
    """Whether a file has the published checksum; False where none is known."""
    try:
        verify(remote, path)
    except DataError:
        return False
    return bool(remote.md5 or remote.sha256)


def checksum(path: Path, algorithm: str) -> str:
    """Hexadecimal digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def extract(archive: Path, folder: Path) -> None:
    """Unpack a tar (however compressed) or zip archive into a folder.

    Raises:
        DataError: it is damaged, or holds paths that lead out of the folder.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
        else:
            with tarfile.open(archive) as packed:
                _unpack(packed, folder)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise DataError(f"{archive} cannot be unpacked ({error}); delete it and download again") from error


def _unpack(packed: tarfile.TarFile, folder: Path) -> None:
    if hasattr(tarfile, "data_filter"):
        packed.extractall(folder, filter="data")
        return
    # Python 3.11 before 3.11.4: plain files and folders that stay inside, which is all that data sets hold.
    for member in packed.getmembers():
        stays = Path(os.path.abspath(folder / member.name)).is_relative_to(folder.absolute())
        if not stays or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} is no file or folder inside it")
    packed.extractall(folder)


def whole_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder by `fill(temporary folder)`; it gets its name when it is complete.

    Raises:
        DataError: there is one of that name already.
    """
    if target.exists():
        raise DataError(f"{target} exists already; move or delete it to make it anew")
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    temporary.mkdir(parents=True)
    try:
        fill(temporary)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
