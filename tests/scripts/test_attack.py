"""What attacks count is kept, added up and shown; the readers of damaged files notice what is accepted."""

import random
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "scripts"))

import attack_counts  # noqa: E402
import attack_files  # noqa: E402

from t3cen.training import sealed  # noqa: E402


def test_counts_are_added_up_and_shown(tmp_path):
    kept = {"code": PROJECT, "folder": tmp_path}
    attack_counts.keep("now", "b", "One thing", 5, [], **kept)
    attack_counts.keep("now", "b", "One thing", 4, ["it broke"], more=True, **kept)
    attack_counts.keep("now", "a", "Another.", 3, [f"case {n}" for n in range(30)], **kept)
    attack_counts.keep("before", "a", "Another, as it was", 2, ["x"], **kept)
    attack_counts.keep_reason("before", "b", "One thing", "nothing of the kind", folder=tmp_path)
    head, rule, *rows = attack_counts.table(tmp_path).splitlines()
    assert head == "| what was done | before: tried | lost or wrong | now: tried | lost or wrong |"
    assert rule.count("|") == head.count("|")
    assert rows[:2] == ["| One thing |  |  | 9 | 1 |", "| Another | 2 | 1 | 3 | 30 |"]
    assert "Not tried on `before`: One thing; nothing of the kind." in rows
    assert f"`now` is commit {attack_counts.commit(PROJECT)}." in rows
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- counts -->\nold\n")
    attack_counts.write_page(page, tmp_path)
    assert page.read_text() == "Before.\n<!-- counts -->\n" + attack_counts.table(tmp_path)


def test_the_page_shows_what_is_kept():
    text = attack_counts.PAGE.read_text()
    assert text.endswith(attack_counts.MARK + attack_counts.table())


class Attack:
    """One file, and this code."""

    code, environment, chance = PROJECT, None, random.Random(0)

    def __init__(self, path):
        self.path = path

    def alone(self):
        return self.path.parents[1], 0.0


@pytest.mark.fast("False-final_flips", "True-final_cuts")
@pytest.mark.parametrize("kind", [attack_files.final_flips, attack_files.final_cuts])
@pytest.mark.parametrize("sealing", [True, False])
def test_what_is_accepted_is_told(kind, sealing, tmp_path, monkeypatch):
    path = tmp_path / "checkpoints" / "final.ckpt"
    path.parent.mkdir()
    sealed.save({"weights": list(range(200))}, path)
    monkeypatch.setattr(attack_files, "READ_FINAL", READ if sealing else READ.replace("sealed.load", "torch.load"))
    told = list(kind(Attack(path), 30))
    assert len(told) == 30
    assert any(told) != sealing
    sealed.load(path)  # which is whole again


READ = """
import torch
from t3cen.training import sealed
def accepted():
    try: sealed.load(path)
    except ValueError: return False
    return True
"""
