import itertools

import torch

from t3cen.figures import style


def test_neighbouring_series_stay_apart_in_black_and_white():
    lightness = style.lightness(style.SERIES)
    assert all(abs(a - b) > 0.1 for a, b in itertools.pairwise(lightness))
    looks = [tuple(map(str, style.line_style(i).values())) for i in range(7)]
    assert len(set(looks)) == 7
    assert len({look[1] for look in looks}) == 7


def test_numbers_are_written_as_people_write_them():
    assert style.scientific(0.445) == "0.45"
    assert style.scientific(4.66e-6) == "4.7 × 10⁻⁶"
    assert style.scientific(8.65) == "8.7"
    assert style.scientific(0.0) == "0"


def test_tiles_keep_every_picture():
    images = torch.arange(3.0)[:, None, None, None].expand(3, 3, 2, 2) / 4
    sheet = style.tile(images, columns=2, gap=1)
    assert sheet.shape == (3, 5, 5)
    assert (sheet[:, :2, :2] == 0).all()
    assert (sheet[:, :2, 3:] == 0.25).all()
    assert (sheet[:, 3:, :2] == 0.5).all()
    assert (sheet[:, 3:, 3:] == 1).all()


def test_the_users_settings_change_nothing():
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with matplotlib.rc_context({"font.size": 3}), style.house_style():
        assert matplotlib.rcParams["font.size"] == 13
    assert matplotlib.rcParams["font.size"] == before
