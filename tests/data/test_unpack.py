"""Tar archives, with the filters of Python 3.11.4 and without them."""

import io
import tarfile

import pytest

from t3cen.data.download import extract
from t3cen.data.errors import DataError


@pytest.fixture(params=["as here", "without filters"], autouse=True)
def python(request, monkeypatch):
    if request.param == "without filters":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


def archive(path, *members):
    with tarfile.open(path, "w") as packed:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, target, 1 if kind == tarfile.REGTYPE else 0
            packed.addfile(member, io.BytesIO(b"a"))
    return path


def test_files_and_folders(tmp_path):
    extract(archive(tmp_path / "a.tar", ("in/a", tarfile.REGTYPE, ""), ("empty", tarfile.DIRTYPE, "")), tmp_path / "out")
    assert (tmp_path / "out" / "in" / "a").read_text() == "a"
    assert (tmp_path / "out" / "empty").is_dir()


@pytest.mark.parametrize(
    "member",
    [
        ("../b", tarfile.REGTYPE, ""),
        ("in/../../b", tarfile.REGTYPE, ""),
        ("link", tarfile.SYMTYPE, "/etc"),
        ("link", tarfile.LNKTYPE, "../b"),
        ("device", tarfile.CHRTYPE, ""),
    ],
    ids=lambda member: f"{member[0]} {member[1].decode()}",
)
def test_what_leads_out_or_is_no_file_is_refused(tmp_path, member):
    with pytest.raises(DataError, match="cannot be unpacked"):
        extract(archive(tmp_path / "a.tar", member), tmp_path / "out")
    assert not (tmp_path / "b").exists()
