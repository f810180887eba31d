"""The copy of the code that queued jobs run."""

import json
import subprocess
import sys

import pytest

from t3cen.training import provenance, snapshot
from t3cen.training.job import environment


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project under git that calls itself t3cen."""
    root = tmp_path / "project"
    (root / "t3cen" / "__pycache__").mkdir(parents=True)
    (root / "t3cen" / "__init__.py").write_text("VALUE = 1\n")
    (root / "t3cen" / "__pycache__" / "x.pyc").write_bytes(b"")
    (root / "conf").mkdir()
    (root / "conf" / "train.yaml").write_text("a: 1\n")
    (root / "notes.txt").write_text("not code\n")
    (root / ".gitignore").write_text("__pycache__\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    monkeypatch.setattr(snapshot, "PROJECT", root)
    monkeypatch.setattr(provenance, "PROJECT", root)
    return root


def test_later_edits_do_not_reach_it(project, tmp_path):
    code = snapshot.snapshot(tmp_path / "outputs")
    (project / "t3cen" / "__init__.py").write_text("VALUE = 2\n")
    command = [sys.executable, "-c", "import t3cen; print(t3cen.VALUE)"]
    # started in the project's own folder, as a job is
    done = subprocess.run(command, cwd=project, env=environment(code), capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert sorted(str(p.relative_to(code)) for p in code.rglob("*") if p.is_file() and "__pycache__" not in p.parts) == [
        "code_version.json", "conf/train.yaml", "t3cen/__init__.py"]  # fmt: skip


def test_it_knows_the_commit_and_is_made_once_for_the_same_code(project, tmp_path):
    first = snapshot.snapshot(tmp_path / "outputs")
    assert snapshot.snapshot(tmp_path / "outputs") == first
    version = json.loads((first / "code_version.json").read_text())
    assert len(version["commit"]) == 40
    assert version["changed"] == []
    (project / "t3cen" / "new.py").write_text("")
    second = snapshot.snapshot(tmp_path / "outputs")
    assert second != first
    assert (second / "t3cen" / "new.py").exists()
    assert json.loads((second / "code_version.json").read_text())["changed"] == ["t3cen/new.py"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t3cen/__init__.py", "VALUE = 3\n"),
        ("t3cen/__init__.py", None),
        ("t3cen/more.py", "VALUE = 3\n"),
        ("conf/more.yaml", ""),
        ("code_version.json", '{"commit": '),
        ("code_version.json", "[]"),
        ("code_version.json", '{"commit": "1"}'),
    ],
)
def test_a_copy_that_was_changed_is_not_used(name, content, project, tmp_path, monkeypatch):
    code = snapshot.snapshot(tmp_path / "outputs")
    (code / "t3cen" / "__pycache__").mkdir()
    (code / "t3cen" / "__pycache__" / "x.pyc").write_bytes(b"")  # which running it makes
    assert snapshot.snapshot(tmp_path / "outputs") == code
    (code / name).unlink() if content is None else (code / name).write_text(content)
    with pytest.raises(ValueError, match=rf"{name} was changed since the code was copied.*delete .*start them again"):
        snapshot.snapshot(tmp_path / "outputs")
    monkeypatch.setattr(provenance, "PROJECT", code)
    with pytest.raises(ValueError, match="was changed since the code was copied"):
        provenance.version_on_disk()


def test_only_files_of_the_code_make_it_a_changed_one(project):
    (project / "scratch.txt").write_text("a note")
    assert provenance.code_version()["dirty"] is False
    (project / "conf" / "train.yaml").write_text("a: 2\n")
    assert provenance.version_on_disk()["changed"] == ["conf/train.yaml"]
    assert provenance.code_version()["dirty"] is True


def test_a_project_outside_git_is_copied_without_caches(project, tmp_path):
    subprocess.run(["rm", "-rf", str(project / ".git")], check=True)
    code = snapshot.snapshot(tmp_path / "outputs")
    assert (code / "t3cen" / "__init__.py").exists()
    assert not (code / "t3cen" / "__pycache__").exists()
    assert json.loads((code / "code_version.json").read_text())["commit"] == "unknown"
