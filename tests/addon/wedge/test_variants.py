"""What is written on the command line or in a table becomes variants; what is wrong with it is said in a line."""

import pytest

from cairn.addon.wedge.variants import Variant, WedgeError, make_variants, parse_vary, read_table


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("friction=0.3:0.8:6", "friction", [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),
        ("mass=2:2:1", "mass", [2.0]),
        ("object:A=B.mass=1,10,100", "object:A=B.mass", [1, 10, 100]),
        ("solver=auto, nncg", "solver", ["auto", "nncg"]),
        ("substeps=4,8.5", "substeps", [4, 8.5]),
    ],
)
def test_values(text, name, values):
    assert parse_vary(text) == (name, values)


@pytest.mark.parametrize("text", ["friction", "=1", "friction=", "friction=1:2", "friction=1:2:0", "a=1:x:3", "a=1,,2"])
def test_no_values(text):
    with pytest.raises(WedgeError) as error:
        parse_vary(text)
    assert "\n" not in str(error.value)


def test_all_combinations():
    """The last property varies fastest, and the seeds of each stand together."""
    variants = make_variants([("a", [1, 2]), ("b", ["x", "y", "z"])], side_by_side=False, seeds=2)
    assert [variant.number for variant in variants] == list(range(1, 13))
    assert variants[:3] == [
        Variant(1, {"a": 1, "b": "x"}, 1),
        Variant(2, {"a": 1, "b": "x"}, 2),
        Variant(3, {"a": 1, "b": "y"}, 1),
    ]
    assert len({(variant.values["a"], variant.values["b"], variant.seed) for variant in variants}) == 12


def test_side_by_side():
    variants = make_variants([("a", [1, 2]), ("b", ["x", "y"])], side_by_side=True, seeds=None)
    assert [variant.values for variant in variants] == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    with pytest.raises(WedgeError, match="a 2, b 3"):
        make_variants([("a", [1, 2]), ("b", [1, 2, 3])], side_by_side=True, seeds=None)


def test_a_property_that_is_varied_twice():
    with pytest.raises(WedgeError, match="a is varied twice"):
        make_variants([("a", [1]), ("a", [2])], side_by_side=False, seeds=None)


def test_seeds_alone():
    variants = make_variants([], side_by_side=False, seeds=3)
    assert [(variant.values, variant.seed) for variant in variants] == [({}, 1), ({}, 2), ({}, 3)]


def test_a_table(tmp_path):
    """As a spreadsheet saves it: with a mark at its beginning, and empty lines."""
    path = tmp_path / "variants.csv"
    path.write_bytes("\ufefffriction,solver,seed\r\n0.3,auto,7\r\n\r\n0.5,nncg,8\r\n".encode())
    assert read_table(path) == [
        Variant(1, {"friction": 0.3, "solver": "auto"}, 7),
        Variant(2, {"friction": 0.5, "solver": "nncg"}, 8),
    ]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "has no variants"),
        (b"friction\n", "has no variants"),
        (b"friction,friction\n1,2\n", "once"),
        (b"friction,solver\n1\n", "variant 1"),
        (b"friction,solver\n1,\n", "variant 1"),
        (b"seed\nmany\n", "many"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_no_table(tmp_path, content, word):
    path = tmp_path / "variants.csv"
    path.write_bytes(content)
    with pytest.raises(WedgeError, match=word):
        read_table(path)
