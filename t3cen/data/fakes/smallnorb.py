"""Fake of small NORB: the publisher's parquet schema with a few pictures of every category and lighting."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
from PIL import Image

from t3cen.data.fakes.pictures import picture


def smallnorb(root: Path) -> None:
    """Two parquet files, 5 categories x 6 lightings x 2 pictures each."""
    import pyarrow
    import pyarrow.parquet

    folder, rng = root / "smallnorb", np.random.default_rng(8)
    folder.mkdir(parents=True, exist_ok=True)
    for split, instances, digest in (("train", (4, 6), "ba54590c34eb8af1"), ("test", (0, 1), "b4af1727fb5b132e")):
        grid = list(itertools.product(instances, range(6), range(5)))
        encoded = []
        for _, lighting, category in grid:
            grey = picture(rng, category, 96, 96)[..., 0] // 6 * (lighting + 1)
            stream = io.BytesIO()
            Image.fromarray(grey).save(stream, format="PNG")
            encoded.append({"bytes": stream.getvalue(), "path": None})
        kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
        columns = {side: pyarrow.array(encoded, kind) for side in ("image_lt", "image_rt")}
        numbers = {
            "category": [c for _, _, c in grid],
            "instance": [i for i, _, _ in grid],
            "elevation": [0] * len(grid),
            "azimuth": [0] * len(grid),
            "lighting": [light for _, light, _ in grid],
        }
        columns |= {name: pyarrow.array(values, pyarrow.int32()) for name, values in numbers.items()}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{split}-00000-of-00001-{digest}.parquet")
