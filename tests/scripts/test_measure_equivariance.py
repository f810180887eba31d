"""The table of equivariance on angles and images, measured on small networks."""

import pytest

from t3cen.commands.equivariance import main
from t3cen.experiments.schema import get_table
from t3cen.results import measured


@pytest.mark.slow
def test_every_cell_is_filled_and_the_angles_are_exact(tmp_path):
    size = ["--backbone", "z2cnn", "--width", "16", "--count", "1"]
    assert main(["--images", "mnist", *size, "--outputs", str(tmp_path)]) == 0
    [measurement], refused = measured.load(tmp_path, "ablation_equivariance")
    assert refused == []
    assert set(measurement.cells) == set(measured.keys(get_table("ablation_equivariance")))
    exact = {name: value for name, value in measurement.cells.items() if name.endswith("/angles") and name != "lcer_s3/angles"}
    assert max(exact.values()) < 5e-6
    assert measurement.cells["lcer_s3/angles"] > 1e-2  # the negative control: translations with clipping


def test_no_images_is_one_line(tmp_path, capsys):
    assert main(["--images", str(tmp_path), "--outputs", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
