"""From a folder of one's own images to answers: training, `t3cen predict`, `t3cen shift-report`, and the worked example."""

import csv
import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from t3cen.commands import predict, shift_report
from t3cen.data import Folder
from t3cen.experiments.composition import compose_with
from t3cen.models import build
from t3cen.training.plan import Job
from t3cen.training.run import run

COLORS = {"blue": (20, 60, 220), "green": (30, 200, 60), "red": (220, 40, 20)}
SCRIPTS = Path(__file__).parents[2] / "scripts"


def save(path, color, rng):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = rng.integers(0, 30, (20, 36, 3))
    Image.fromarray(np.clip(np.array(color) + noise, 0, 255).astype(np.uint8)).save(path)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("own") / "photos", np.random.default_rng(0)
    for name, color in COLORS.items():
        for number in range(5):
            save(folder / name / f"{number}.png", color, rng)
    return folder


@pytest.fixture(scope="module")
def trained(images, tmp_path_factory):
    """The folder of a run of two steps."""
    folder = tmp_path_factory.mktemp("run")
    lines = ["data=folder", f"data.root={images}", "model=t3cen", "model.group=h2", "scale=smoke", "logger.wandb=off"]
    run(Job(compose_with(lines), folder, tuple(lines[:1])))
    return folder


def test_a_run_tells_its_classes_and_its_content(trained, images):
    told = json.loads((trained / "result.json").read_text())["data_provenance"]
    assert told["class_names"] == ["blue", "green", "red"]
    assert told["content"] == Folder(root=images).provenance["content"]
    assert told["name"] == "folder"


def expected(trained, images):
    """Probabilities by the path of each test image, by the way the training takes."""
    network = predict.load(trained)
    items = Folder(root=images, image_size=32).splits.test["vanilla"]
    with torch.no_grad():
        rows = network(torch.stack([items[at][0] for at in range(len(items))])).softmax(1)
    return {bytes(items.source.paths[i]).decode(): row for i, row in zip(items.indices.tolist(), rows, strict=True)}


def test_answers_are_those_of_the_training_s_own_tests(trained, images, tmp_path):
    file = tmp_path / "new" / "answers.csv"
    assert predict.main([str(trained), str(images), "-o", str(file), "--batch-size", "4"]) == 0
    answers = {row["image"]: row for row in csv.DictReader(file.read_text().splitlines())}
    assert len(answers) == 15
    for path, row in expected(trained, images).items():
        given = [float(answers[path][f"p({name})"]) for name in ("blue", "green", "red")]
        assert given == pytest.approx(row.tolist(), abs=2e-6)
        assert answers[path]["class"] == ("blue", "green", "red")[int(row.argmax())]
        assert float(answers[path]["probability"]) == max(given)


def test_json_of_one_image_given_twice(trained, images, capsys):
    image = images / "red" / "0.png"
    assert predict.main([str(trained / "checkpoints" / "final.ckpt"), str(image), str(image), "--json"]) == 0
    [answer] = json.loads(capsys.readouterr().out)
    assert answer["image"] == str(image)
    assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert answer["probabilities"][answer["class"]] == answer["probability"] == max(answer["probabilities"].values())


def test_a_damaged_image_is_named_and_nothing_is_written(trained, images, tmp_path, capsys):
    damaged = tmp_path / "damaged.jpg"
    damaged.write_bytes(b"no picture")
    assert predict.main([str(trained), str(damaged), "-o", str(tmp_path / "answers.csv")]) == 1
    assert f"{damaged} cannot be read as an image" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [damaged]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["nowhere", "{images}"], "no"), (["{trained}", "nowhere"], "no image or folder nowhere"),
     (["{trained}", "{empty}"], "no images in")],
)  # fmt: skip
def test_predict_says_what_is_missing(arguments, told, trained, images, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    places = {"trained": trained, "images": images, "empty": tmp_path / "empty"}
    assert predict.main([argument.format(**places) for argument in arguments]) == 1
    assert capsys.readouterr().err.startswith(f"t3cen predict: {told}")


def test_a_run_and_a_file_of_weights_are_reported(trained, images, tmp_path, capsys):
    out = tmp_path / "report"
    assert shift_report.main([str(trained), "--images", str(images), "--limit", "6", "--output", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Accuracy (%) on 6 images")
    assert {path.suffix for path in out.iterdir()} == {".png", ".pdf", ".json", ".csv", ".md"}
    assert (out / "shift_report.md").read_text().strip() == said.strip()
    points = list(csv.DictReader((out / "shift_report.csv").read_text().splitlines()))
    numbers = json.loads((out / "shift_report.json").read_text())["numbers"][trained.name]["scores"]
    assert len(points) == sum(len(scores) for scores in numbers.values()) == 67
    assert {float(p["share"]) for p in points if p["axis"] == "hue"} == {round(share, 4) for _, share in numbers["hue"]}


@pytest.mark.parametrize(("classes", "measure"), [(3, "Accuracy"), (7, "Agreement")])
def test_weights_of_a_library_s_network_with_and_without_its_classes(classes, measure, images, tmp_path, capsys):
    weights = tmp_path / "weights.pth"
    torch.save(build("torchvision/squeezenet1_1", num_classes=classes, family="plain").body.state_dict(), weights)
    arguments = [str(weights), "--network", "torchvision/squeezenet1_1", "--size", "32", "--limit", "2"]
    assert shift_report.main([*arguments, "--images", str(images), "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"{measure} (%) on 2 images")


def test_a_pickled_module_is_not_executed(images, tmp_path, capsys):
    weights = tmp_path / "model.pth"
    torch.save(torch.nn.Linear(2, 2), weights)
    assert shift_report.main([str(weights), "--network", "torchvision/resnet18", "--images", str(images)]) == 1
    assert "holds no weights alone (UnpicklingError); save them by torch.save(model.state_dict())" in capsys.readouterr().err


def test_models_are_told_apart_by_the_ends_of_their_paths():
    names = shift_report._names([Path("a/h4/seed1/checkpoints/final.ckpt"), Path("a/plain/seed1")])
    assert names == ["h4/seed1", "plain/seed1"]
    with pytest.raises(ValueError, match="a model is given twice"):
        shift_report._names([Path("a"), Path("a")])


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("your_images")


@pytest.mark.slow
def test_the_worked_example(example, tmp_path):
    line = ["--folder", str(tmp_path), "--count", "6", "--size", "32", "--scale", "smoke", "--seconds", "0.5", "--seeds", "4"]
    assert example.main(line) == 0
    assert (tmp_path / "your_images.png").is_file()
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 1 + 4 * 2
    found = json.loads((tmp_path / "found.json").read_text())
    rows = found["fine_tuned"]["rows"]
    assert [row["seed"] for row in rows] == [None, None, 4, 4, 4]
    assert all(row["seconds"] >= 0.5 and row["images"] >= 4 * 6 for row in rows[2:])  # one batch, of all images, may take so long
    # The twin's answers do not change by quarters of a turn; that is 90 degrees, of which the report has all.
    report = json.loads((tmp_path / "your_images.json").read_text())["numbers"]
    hues = dict(map(tuple, next(report[name] for name in report if "twin" in name)["scores"]["hue"]))
    assert hues[0] == hues[0.25] == hues[-0.25] == hues[0.5]


def test_the_page_is_what_was_found(example):
    text = (SCRIPTS.parent / "docs" / "your_images.md").read_text()
    file = SCRIPTS.parent / "docs" / "results" / "your_images_found.json"
    assert (example.page(text, json.loads(file.read_text())) == text) if file.exists() else text.endswith(example.MARK)
