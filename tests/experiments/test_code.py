"""The code of a run is what decides its numbers: a layer counts, a figure, another data set or a docstring does not."""

import inspect
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from t3cen.data import MNIST
from t3cen.experiments import all_runs
from t3cen.experiments.code import BESIDE, BY_NAME, PACKAGE, changed, fingerprint, own_parts, parts, todays
from t3cen.experiments.composition import compose
from t3cen.experiments.record import read
from t3cen.models.z2cnn import Z2CNN
from t3cen.nn import CEConv2d, GroupConv2d, HSLLifting
from t3cen.task import Classification
from t3cen.training.plan import Job
from t3cen.training.run import make_data, make_network, make_task, run

CONFIG = compose(all_runs()["mnist_h4"], "smoke")


def file_of(thing):
    return Path(inspect.getsourcefile(thing)).relative_to(PACKAGE)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def package(tmp_path):
    """A copy of t3cen to edit."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "t3cen", ignore=shutil.ignore_patterns("__pycache__")))


def changes(package, config=CONFIG):
    """The files of the run in which the copy differs from t3cen."""
    return changed(parts(config), parts(config, package))


def test_a_copy_is_the_same_code(package):
    assert fingerprint(parts(CONFIG, package)) == fingerprint(parts(CONFIG)) == todays(CONFIG)


@pytest.mark.parametrize("thing", [GroupConv2d, HSLLifting, Z2CNN, MNIST, Classification], ids=lambda thing: thing.__name__)
def test_what_a_run_is_made_of_counts(package, thing):
    with (package / file_of(thing)).open("a") as file:
        file.write("\nMORE = 1\n")
    assert changes(package) == [f"t3cen/{file_of(thing).as_posix()}"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("loss.py", "return F.cross_entropy(", "return 2 * F.cross_entropy("),
        ("models/families.py", "HSLLifting(group, cover, ", "HSLLifting(group, 'sine', "),
        ("training/run.py", 'torch.manual_seed(config["seed"])', 'torch.manual_seed(config["seed"] + 1)'),
        ("training/schedule.py", "import", "import math  # now used\nimport"),
    ],
)
def test_how_it_is_put_together_and_trained_counts(package, file, old, new):
    edit(package / file, old, new)
    assert changes(package) == [f"t3cen/{file}"]


def test_c_counts_and_its_comments_do_not(package):
    for name in [name for name in parts(CONFIG) if name.endswith((".c", ".h"))]:
        path = package.parent / name
        path.write_text('/* a note,\n   "quoted" */\n  ' + path.read_text().replace(";\n", ";  // so\n\n"))
    assert changes(package) == []
    path.write_text(path.read_text() + 'const char *more = "/* no comment */";\n')
    assert changes(package) == [name]
    before = parts(CONFIG, package)
    edit(path, "/* no comment */", "/* another */")
    assert changed(before, parts(CONFIG, package)) == [name]


def test_a_module_imported_inside_a_function_counts(package):
    with (package / file_of(Z2CNN)).open("a") as file:
        file.write("\n\ndef later():\n    from t3cen.models.late import value\n\n    return value\n")
    late = package / "models" / "late.py"
    late.write_text("value = 1\n")
    before = parts(CONFIG, package)
    late.write_text("value = 2\n")
    assert changed(before, parts(CONFIG, package)) == ["t3cen/models/late.py"]


def test_new_files_and_other_readers_do_not_count(package):
    (package / "data" / "mine.py").write_text("from t3cen.data.module import ColorData\n\n\nclass Mine(ColorData):\n    pass\n")
    (package / "figures" / "mine.py").write_text("def draw():\n    pass\n")
    (package / "models" / "mine.py").write_text("from t3cen.models.network import Network\n\n\nclass Mine(Network):\n    pass\n")
    for folder in ("figures", "tables", "results", "analysis", "experiments"):
        for path in (package / folder).glob("*.py"):
            path.write_text(path.read_text() + "\nMORE = 1\n")
    assert changes(package) == []


@pytest.mark.parametrize(
    ("loss", "edited", "counts"),
    [
        ("my_loss.loss", "my_loss.py", ["my_loss.py"]),
        ("my_losses.focal.loss", "my_losses/focal.py", ["my_losses/focal.py"]),
        ("my_losses.focal.loss", "my_losses/deep/helper.py", ["my_losses/deep/helper.py"]),
        ("my_losses.focal.loss", "my_loss.py", []),
    ],
)
def test_a_persons_own_modules_count(loss, edited, counts, tmp_path, monkeypatch):
    for name in ("my_loss.py", "my_losses/__init__.py", "my_losses/focal.py", "my_losses/deep/helper.py", "my_losses/._focal.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("SCALE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    config = {**CONFIG, "loss": {"_target_": loss, "_partial_": True}}
    before, today = parts(config), todays(config)
    assert today == fingerprint(before) != fingerprint(parts(CONFIG))
    (tmp_path / edited).write_text("SCALE = 2\n")
    assert changed(before, parts(config)) == counts
    assert (todays(config) == today) is not bool(counts)


@pytest.mark.parametrize("target", ["torch.nn.functional.cross_entropy", "os.system", "sys.exit", "no_such_module.loss", "1.2"])
def test_libraries_are_no_modules_of_ones_own(target):
    assert own_parts({"loss": {"_target_": target}}) == {}


def test_what_macos_leaves_beside_modules_does_not_count(package):
    for name in ("models/._resnet.py", "ops/cpu/csrc/._conv.c", "._loss.py"):
        (package / name).write_bytes(b"\x00\x05\x16\x07\xb0")
    assert not changes(package)


def test_what_only_other_runs_use_does_not_count(package):
    for name in (*(package / "data").glob("camelyon*.py"), package / "data" / "cifar.py", package / file_of(CEConv2d)):
        name.write_text(name.read_text() + "\nMORE = 1\n")
    edit(package / "models" / "families.py", "partial(CEConv2d, group=group", "partial(CEConv2d, padding=1, group=group")
    edit(package / "training" / "run.py", 'log.info("%s is finished', 'log.info("%s is done')
    for name in BESIDE - {"t3cen.experiments", "t3cen.data.fakes"}:
        path = package.parent / f"{name.replace('.', '/')}.py"
        path.write_text(path.read_text() + "\nMORE = 1\n")
    assert changes(package) == []
    assert changes(package, compose(all_runs()["cifar10_ceconv3"], "smoke")) != []


def test_docstrings_comments_and_layout_do_not_count(package):
    for path in package.rglob("*.py"):
        text = re.sub(r'^( *)"""(?=\w)', r'\1"""More. ', path.read_text(), flags=re.MULTILINE)
        text = re.sub(r"^( *\w+) = ", r"\1  =  ", text, flags=re.MULTILINE).replace("\ndef ", "\n# a comment\n\ndef ")
        path.write_text(text + '\n"""The end."""\n')
    assert changes(package) == []


def test_every_run_has_a_code(experiment):
    assert todays(compose(all_runs()[experiment], "paper"))


def test_networks_and_data_sets_have_codes_of_their_own():
    names = ("mnist_h4", "mnist_z2cnn", "camelyon_h4", "shapes3d_hue_h4", "shapes3d_hue_ceconv3")
    assert len({todays(compose(all_runs()[name], "paper")) for name in names}) == len(names)


@pytest.mark.parametrize("name", sorted(BY_NAME | BESIDE))
def test_modules_that_are_set_apart_exist(name):
    path = PACKAGE.parent / name.replace(".", "/")
    assert path.is_dir() or path.with_suffix(".py").is_file()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbone": "resnet19"}, "there is no 'resnet19' in t3cen.models"),
        ({"model": {}}, r"backbone 'z2cnn' and model.family None names no network"),
        ({"data": {"_target_": "t3cen.data.Nowhere"}}, "there is no Nowhere in t3cen.data"),
        ({"data": {"_target_": "t3cen.nowhere.MNIST"}}, "there is no nowhere in t3cen"),
        ({"data": {"_target_": "t3cen.data./etc/x"}}, "there is no t3cen.data./etc/x"),
    ],
)
def test_code_that_is_not_there_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        parts({**CONFIG, **changes})
    assert todays({**CONFIG, **changes}) is None


def executed_by(call):
    """Files of t3cen in which a function was called meanwhile."""
    seen = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_flags & inspect.CO_NEWLOCALS:  # no module or class being read
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {Path(name).relative_to(PACKAGE.parent).as_posix() for name in seen if Path(name).is_relative_to(PACKAGE)}


def test_what_a_run_executes_is_its_code_or_set_apart(tmp_path):
    config = compose(all_runs()["mnist_h4"], "smoke")
    config["logger"]["wandb"] = "off"
    config.update(step_jitter=True, selection="validation", scheduler="cosine", num_workers=0)
    config["data"].update(num_workers=0)
    executed = executed_by(lambda: run(Job(config, tmp_path, ())))
    apart = tuple(name.replace(".", "/") for name in BESIDE)
    unknown = [
        n for n in executed - set(parts(config)) if not (n.endswith("__init__.py") or n.removesuffix(".py").startswith(apart))
    ]
    assert unknown == []
    assert f"t3cen/{file_of(GroupConv2d).as_posix()}" in executed
    content = json.loads((tmp_path / "result.json").read_text())
    assert content["code"] == parts(config)
    assert content["code_hash"] == fingerprint(content["code"])
    assert read(tmp_path / "result.json").is_of_todays_code


@pytest.mark.parametrize("name", ["cifar10_lcer_s3", "shapes3d_hue_ceconv3", "shapes3d_between_hue_h5_continuous", "camelyon_s4"])
def test_every_class_in_a_network_is_of_its_code(name):
    config = compose(all_runs()[name], "smoke")
    data = make_data(config)
    network = make_network(config, data)
    things = [data, data.augmentation, make_task(config, data, network), *network.modules()]
    homes = {Path(inspect.getsourcefile(type(thing))) for thing in things if type(thing).__module__.startswith("t3cen.")}
    assert {path.relative_to(PACKAGE.parent).as_posix() for path in homes} <= set(parts(config))
