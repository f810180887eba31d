"""Files from the network and archives, whole or not at all."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from t3cen.data.checksums import write_list
from t3cen.data.errors import DataError, advice, unwritable
from t3cen.data.lock import alone
from t3cen.data.mirrors import BLOCK, MirrorFailed, Remote, difference, receive
from t3cen.progress import counted_bytes


def fetch(remote: Remote, target: Path, timeout: float = 60.0) -> Path:
    """Download a file; an interrupted download goes on where it stopped.

    It grows under the name `<target>.part` and gets its own name only when its size and checksum are right. Mirrors are tried
    in turn; what one of them sends in place of the file is thrown away, what has come of the file is kept. A second process
    waits for the first.

    Raises:
        DataError: no mirror has it, the connection broke, what came is not the published file, or there is no room for it.
    """
    if target.exists():
        verify(remote, target)
        return target
    try:
        with alone(target):
            if target.exists():
                verify(remote, target)
                return target
            failures = []
            for url in remote.urls:
                try:
                    receive(url, target, remote, timeout)
                except MirrorFailed as failure:
                    failures.append(f"{url}: {failure}")
                else:
                    return target
    except OSError as error:  # those of the network are MirrorFailed
        raise unwritable(target, error) from error
    raise DataError(
        f"{target.name} could not be downloaded. " + "; ".join(failures) + ". What has come is kept; try again later."
    )


def verify(remote: Remote, path: Path) -> None:
    """Compare a file with its published size and checksums.

    Raises:
        DataError: it differs.
    """
    wrong = difference(remote, path)
    if wrong is not None:
        raise DataError(f"{path} {wrong}; delete it and download again")


def extract(archive: Path, folder: Path) -> None:
    """Unpack a tar (however compressed) or zip archive into a folder.

    Raises:
        DataError: it is damaged, or holds paths that lead out of the folder.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                members = zipped.infolist()
                with counted_bytes(f"unpacking {archive.name}", sum(member.file_size for member in members)) as progress:
                    for member in members:
                        zipped.extract(member, folder)
                        progress.update(member.file_size)
        else:
            with archive.open("rb") as file, tarfile.open(fileobj=file) as packed:
                _unpack(packed, folder, _members(packed, file, archive))
    except Exception as error:  # whatever a damaged archive makes its reader stumble over
        raise _unpacking(archive, folder, error) from error


def gunzip(archive: Path, target: Path) -> None:
    """Unpack a single compressed file, whole or not at all.

    Raises:
        DataError: it is damaged, or there is no room.
    """
    part = target.with_name(target.name + ".part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(archive) as packed, part.open("wb") as file:
            shutil.copyfileobj(packed, file, BLOCK)
        part.replace(target)
    except Exception as error:  # whatever a damaged archive makes its reader stumble over
        raise _unpacking(archive, target, error) from error
    finally:
        part.unlink(missing_ok=True)


def _unpacking(archive: Path, target: Path, error: Exception) -> DataError:
    """The error of the disk, if it has the operating system's number, or of a damaged archive."""
    if isinstance(error, OSError) and error.errno is not None:
        if error.filename == str(archive):
            return DataError(f"{archive} cannot be read ({error.strerror}). {advice(error, '')}")
        return unwritable(target, error)
    return DataError(f"{archive} cannot be unpacked ({error or type(error).__name__}); delete it and download again")


def _members(packed: tarfile.TarFile, file: IO[bytes], archive: Path) -> Iterator[tarfile.TarInfo]:
    """The members in order, with progress in bytes of the archive: theirs are known only when all of it is read."""
    with counted_bytes(f"unpacking {archive.name}", archive.stat().st_size) as progress:
        for member in packed:
            yield member
            progress.update(max(0, file.tell() - progress.n))


def _unpack(packed: tarfile.TarFile, folder: Path, members: Iterator[tarfile.TarInfo]) -> None:
    if hasattr(tarfile, "data_filter"):
        packed.extractall(folder, members, filter="data")
        return
    # Python 3.11 before 3.11.4: plain files and folders that stay inside, which is all that data sets hold.
    for member in packed.getmembers():
        stays = Path(os.path.abspath(folder / member.name)).is_relative_to(folder.absolute())
        if not stays or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} is no file or folder inside it")
    packed.extractall(folder, members)


def whole_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder by `fill(temporary folder)`; it gets its name when it is complete, with the digests of its files.

    A second process waits for the first. What a killed one left is removed.

    Raises:
        DataError: there is one of that name already, or there is no room.
    """
    temporary = target.with_name(f"{target.name}.part")
    try:
        with alone(target):
            if target.exists():
                raise DataError(f"{target} exists already; move or delete it to make it anew")
            shutil.rmtree(temporary, ignore_errors=True)
            try:
                temporary.mkdir()
                fill(temporary)
                write_list(temporary)
                os.replace(temporary, target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        if error.errno is None:  # not the operating system's: about what `fill` reads
            raise
        raise unwritable(target, error) from error
