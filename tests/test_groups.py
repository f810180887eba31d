"""The groups: their elements, their action on functions, their names and their errors."""

import copy
import itertools
import pickle
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t3cen.groups import ColorGroup, CyclicProduct, RGBGroup, ScaleGroup

orders = st.tuples(*[st.integers(1, 4)] * 3)


def test_elements_are_row_major_hue_slowest_luminance_fastest():
    group = ColorGroup(hue=2, saturation=3, luminance=4)
    elements = list(group.elements())
    assert len(group) == group.order == len(elements) == 24
    assert elements[:5] == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 1, 0)]
    assert elements[12] == (1, 0, 0)


def test_action_by_hand():
    f = torch.tensor([[10.0, 11, 12]])
    assert ColorGroup(hue=3).act(f, (1, 0, 0)).tolist() == [[11, 12, 10]]
    assert ColorGroup(hue=3).act(f, (-1, 0, 0)).tolist() == [[12, 10, 11]]


@pytest.mark.parametrize("element", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3), (-1, 4, 9)])
def test_action_moves_each_axis_by_its_own_order(element):
    group = ColorGroup(2, 3, 4)
    f = torch.arange(24.0)[None]
    rolled = group.act(f, element)
    for index, g in enumerate(group.elements()):
        moved = tuple((a + e) % n for a, e, n in zip(g, element, group.orders, strict=True))
        assert rolled[0, index] == f[0, np.ravel_multi_index(moved, group.orders)]


@given(orders, st.data())
def test_action_is_a_group_action(group_orders, data):
    group = ColorGroup(*group_orders)
    element = st.tuples(*[st.integers(-5, 5)] * 3)
    a, b = data.draw(element), data.draw(element)
    f = torch.arange(2.0 * group.order * 3).view(2, group.order, 3)
    assert torch.equal(group.act(group.act(f, a), b), group.act(f, [x + y for x, y in zip(a, b, strict=True)]))
    assert torch.equal(group.act(group.act(f, a), group.inverse(a)), f)
    assert torch.equal(group.act(f, (0, 0, 0)), f)


def test_action_keeps_its_input_its_dtype_and_the_gradient():
    group = ColorGroup(hue=3)
    f = torch.arange(6).view(1, 3, 2)
    assert group.act(f, (1, 0, 0)).dtype == f.dtype
    assert f.flatten().tolist() == list(range(6))
    g = torch.rand(1, 3, 2, requires_grad=True)
    group.act(g, (1, 0, 0))[:, 0].sum().backward()
    assert g.grad[0].sum(1).tolist() == [0, 2, 0]


def test_a_product_of_nothing_acts_by_nothing():
    f = torch.rand(2, 1, 3)
    acted = CyclicProduct().act(f, ())
    assert torch.equal(acted, f)
    assert acted.data_ptr() != f.data_ptr()


def test_whole_numbers_of_numpy_are_whole_numbers():
    group = ColorGroup(hue=np.int64(4))
    assert group == ColorGroup(hue=4)
    assert repr(group) == repr(ColorGroup(hue=4))
    with pytest.raises(ValueError, match="must be a whole number"):
        ColorGroup(hue=np.int64(0))


@pytest.mark.parametrize("bad", [0, -1, 2.0, "4", True, None, np.bool_(True), np.float64(2)])
def test_orders_must_be_whole_and_positive(bad):
    with pytest.raises(ValueError, match=rf"the saturation order must be a whole number >= 1, got {re.escape(repr(bad))}"):
        ColorGroup(4, bad, 1)
    with pytest.raises(ValueError, match="scale order"):
        ScaleGroup(bad)
    with pytest.raises(ValueError, match="blue order"):
        RGBGroup(1, 1, bad)


def test_action_says_both_numbers_when_shapes_disagree():
    with pytest.raises(ValueError, match=r"5 group entries in \(1, 5\), 4 expected by ColorGroup\(hue=4"):
        ColorGroup(hue=4).act(torch.zeros(1, 5), (1, 0, 0))
    with pytest.raises(ValueError, match="no group entries"):
        ColorGroup(hue=4).act(torch.zeros(4), (1, 0, 0))
    with pytest.raises(ValueError, match=r"2 steps in \(1, 0\), 3 expected"):
        ColorGroup(hue=4).act(torch.zeros(1, 4), (1, 0))


def test_action_refuses_fractions_and_takes_any_whole_number():
    group = ColorGroup(hue=4)
    f = torch.arange(4.0)[None]
    with pytest.raises(ValueError, match=r"\(0.5, 0, 0\) is no element"):
        group.act(f, (0.5, 0, 0))
    assert torch.equal(group.act(f, (np.int64(1), 0.0, 0)), group.act(f, (1, 0, 0)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("h4", (4, 1, 1)), ("s3", (1, 3, 1)), ("h4s4l4", (4, 4, 4)), ("H3L16", (3, 1, 16)), ("", (1, 1, 1)), ("h1", (1, 1, 1))],
)
def test_names_of_the_paper(text, expected):
    group = ColorGroup.parse(text)
    assert group.orders == expected
    assert ColorGroup.parse(group.short_name) == group


@pytest.mark.parametrize("text", ["4", "x3", "s4h4", "h", "h4 s4", "h-1", "hh4"])
def test_a_name_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"names no colour group; write h, s, l in this order"):
        ColorGroup.parse(text)


def test_parsed_orders_are_checked():
    with pytest.raises(ValueError, match="the hue order must be a whole number >= 1, got 0"):
        ColorGroup.parse("h0")


def test_equality_and_hash_distinguish_kind_and_orders():
    groups = [ColorGroup(2, 3, 4), ColorGroup(4, 3, 2), RGBGroup(2, 3, 4), ScaleGroup(24), CyclicProduct(2, 3, 4)]
    for a, b in itertools.combinations(groups, 2):
        assert a != b
    assert len(set(groups)) == len(groups)
    assert ColorGroup(2, 3, 4) == ColorGroup(2, 3, 4)
    assert ColorGroup(2) != "h2"


def test_repr_names_the_orders():
    assert repr(ColorGroup(2, 3, 4)) == "ColorGroup(hue=2, saturation=3, luminance=4)"
    assert repr(CyclicProduct(2, 3)) == "CyclicProduct(2, 3)"


def test_groups_copy_and_pickle():
    group = ColorGroup(2, 3, 4)
    assert copy.deepcopy(group) == pickle.loads(pickle.dumps(group)) == group
