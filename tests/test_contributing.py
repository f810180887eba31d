"""The files that docs/contributing.md names are all that a new thing takes: its examples run in a copy of the repository."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "contributing.md").read_text()
SECTION = re.compile(r"^### (.+?)\n(.*?)(?=^### |\Z)", re.M | re.S)
EXAMPLE = re.compile(r"(end of )?`([\w/.]+)`:\n\n```\w+\n(.*?)```", re.S)
EXAMPLES = {title: EXAMPLE.findall(text) for title, text in SECTION.findall(PAGE)}
ADDED = list(itertools.chain(*EXAMPLES.values()))
PICKED_UP = {
    "test_items_are_float_rgb_and_labels": ["mushrooms"],
    "test_states": ["mushrooms"],
    "test_shapes_and_a_finite_gradient_for_every_parameter": ["t3cen_hsv", "shallow"],
    "test_same_weights_and_finite_gradients": ["shallow"],
    "test_families_without_rotations_refuse": ["t3cen_hsv"],
    "test_range_type_and_shape": ["gamma"],
    "test_gradients_are_finite_everywhere": ["bent"],
    "test_every_figure_is_composed_and_names_a_function": ["cover_curve"],
}
"""Tests over the registries, and what of the examples they take in."""


def expanded(pattern):
    """`conf/scale/{laptop,smoke}/<name>.yaml` as two expressions."""
    before, choices, after = re.fullmatch(r"(.*?)(?:\{(.*)\})?([^{}]*)", pattern).groups()
    return [re.escape(before + choice + after).replace("<name>", r"\w+") for choice in (choices or "").split(",")]


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples_take_the_files_of_the_list(title):
    row = re.search(rf"^\| \[.+?\]\(#{title.lower().replace(' ', '-')}\) \|(.+)\|$", PAGE, re.M)[1]
    listed = [path for pattern in re.findall("`(.+?)`", row) for path in expanded(pattern)]
    taken = [path for _, path, _ in EXAMPLES[title]]
    assert len(listed) == len(taken) > 0
    assert all(any(re.fullmatch(pattern, path) for path in taken) for pattern in listed)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository with every example added, and nothing else changed."""
    root = tmp_path_factory.mktemp("copy")
    for part in ("conf", "hydra_plugins", "scripts", "t3cen", "tests"):
        if (REPOSITORY / part).is_dir():
            shutil.copytree(REPOSITORY / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*REPOSITORY.glob("*.py"), *REPOSITORY.glob("*.toml"), *REPOSITORY.glob("docs/*.md")]:
        (root / path.relative_to(REPOSITORY)).parent.mkdir(exist_ok=True)
        shutil.copy(path, root / path.relative_to(REPOSITORY))
    for at_the_end, name, text in ADDED:
        assert (root / name).exists() == bool(at_the_end)
        with (root / name).open("a") as file:
            file.write("\n\n" * bool(at_the_end) + text)
    return root


def run(root, *arguments):
    """The output of a command in the copy, which must succeed."""
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *map(str, arguments)], cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_examples_are_in_the_house_style(copy):
    code = [name for _, name, _ in ADDED if name.endswith(".py")]
    run(copy, "-m", "ruff", "check", "--no-cache", *code)
    run(copy, "-m", "ruff", "format", "--no-cache", "--check", *code)


@pytest.mark.slow
def test_the_tests_of_the_registries_pick_the_examples_up(copy):
    chosen = [" and ".join([test, *names]) for test, names in PICKED_UP.items()]
    chosen += ["registries_agree", "is_configured", "options_are"]
    where = ("tests/augment", "tests/data", "tests/figures/test_registry.py", "tests/models", "tests/test_covers.py")
    shown = run(copy, "-m", "pytest", "-p", "no:cacheprovider", "-vv", "-k", " or ".join(f"({x})" for x in chosen), *where)
    passed = [line for line in shown.splitlines() if " PASSED" in line]
    for test, names in PICKED_UP.items():
        assert any(all(name in line for name in [f"::{test}[", *names]) for line in passed), (
            f"{test} takes in no {names}:\n{shown}"
        )


@pytest.mark.slow
def test_the_examples_train_together(copy, tmp_path):
    run(copy, "scripts/prepare_data.py", "--fake", tmp_path / "fakes", "mushrooms")
    settings = ["scale=smoke", f"data_root={tmp_path / 'fakes'}", f"outputs={tmp_path}", "logger.wandb=off"]
    run(copy, "train.py", "experiment=mushrooms_shallow_l4", *settings)
    (path,) = tmp_path.glob("smoke/mushrooms_shallow_l4/**/result.json")
    record = json.loads(path.read_text())
    assert set(record["metrics"]["test"]) == {"vanilla", "saturation", "luminance"}
    assert record["data_provenance"]["source"] == "fake"
    run(copy, "scripts/make_figures.py", "cover_curve", f"figures={tmp_path}")
    assert json.loads((tmp_path / "cover_curve.json").read_text())
