"""From Hugging Face's parquet copy of Camelyon17-WILDS to the folders and the table that wilds reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from t3cen.data.camelyon import FOLDER, TRAIN_HOSPITALS
from t3cen.data.download import whole_folder
from t3cen.data.errors import DataError, broken

HUB = "wltjr1007/Camelyon17-WILDS"
WANTED = ("image", "label", "image_id", "patient", "node", "x_coord", "y_coord", "slide")
PNG = b"\x89PNG"


def import_parquet(parquet: Path, root: Path) -> Path:
    """Write `<root>/camelyon17_v1.0` from the mirror's parquet files.

    The mirror's `validation` part mixes patches of the training hospitals (WILDS' `id_val`) with those of the validation
    hospital; the hospital is slide // 10. Rows are put in the order of `image_id`, the order of the benchmark's own table.

    Args:
        parquet: a folder with `train-*.parquet`, `validation-*.parquet` and `test-*.parquet`, at any depth.
        root: the data root.

    Returns:
        the new folder.

    Raises:
        DataError: files or columns are missing, a picture is unreadable, or the folder exists already.
    """
    import pandas

    target = root / FOLDER
    files = {split: sorted(parquet.rglob(f"{split}-*.parquet")) for split in ("train", "validation", "test")}
    absent = [split for split, found in files.items() if not found]
    if absent:
        raise DataError(f"camelyon: {parquet} has no files {', '.join(f'{split}-*.parquet' for split in absent)}")

    def fill(folder: Path) -> None:
        rows: list[dict[str, Any]] = []
        for split, found in files.items():
            for path in found:
                rows += [_write(folder, row, split, path) for row in _rows(path)]
        table = pandas.DataFrame(rows).sort_values("image_id", ignore_index=True).drop(columns="image_id")
        table.to_csv(folder / "metadata.csv")
        (folder / "RELEASE_v1.0.txt").write_text(f"Imported from the parquet files of {HUB}.\n")

    whole_folder(target, fill)
    return target


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        missing = [column for column in WANTED if column not in file.schema_arrow.names]
        if missing:
            raise broken("camelyon", path, f"has no column {', '.join(missing)}")
        batches = file.iter_batches(batch_size=1000, columns=list(WANTED))
        while batch := next(batches, None):
            yield from batch.to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise broken("camelyon", path, f"cannot be read ({error})", error) from error


def _write(folder: Path, row: dict[str, Any], split: str, path: Path) -> dict[str, Any]:
    """Write one patch, and return its row of metadata.csv."""
    patient, center = f"{int(row['patient']):03d}", int(row["slide"]) // 10
    place = folder / "patches" / f"patient_{patient}_node_{row['node']}"
    place.mkdir(parents=True, exist_ok=True)
    content = row["image"]["bytes"]
    if not content or not content.startswith(PNG):
        raise broken("camelyon", path, f"has no PNG picture in the row with image_id {row['image_id']}")
    (place / f"patch_patient_{patient}_node_{row['node']}_x_{row['x_coord']}_y_{row['y_coord']}.png").write_bytes(content)
    return {
        "image_id": row["image_id"],
        "patient": patient,
        "node": row["node"],
        "x_coord": row["x_coord"],
        "y_coord": row["y_coord"],
        "tumor": row["label"],
        "slide": row["slide"],
        "center": center,
        # wilds itself marks the hospitals of validation and test
        "split": int(split == "validation" and center in TRAIN_HOSPITALS),
    }
