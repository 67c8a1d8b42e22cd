"""Everything that users of the core call says its types; mypy (see pyproject.toml) checks that they hold."""

import inspect

import pytest

import cairn.solver_core as core


def public_callables():
    """Functions of the public names, and the public methods and constructors of its classes, by name."""
    for name in core.__all__:
        value = getattr(core, name)
        if not inspect.isclass(value):
            if callable(value):  # and no constant
                yield name, value
            continue
        for key, member in vars(value).items():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(member) and (key == "__init__" or not key.startswith("_")):
                yield f"{name}.{key}", member


@pytest.mark.parametrize(("name", "function"), [pytest.param(*pair, id=pair[0]) for pair in public_callables()])
def test_public_functions_say_their_types(name, function):
    signature = inspect.signature(function)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name not in ("self", "cls")]
    missing = [parameter.name for parameter in parameters if parameter.annotation is inspect.Parameter.empty]
    if signature.return_annotation is inspect.Signature.empty and function.__name__ != "__init__":
        missing.append("return")
    assert not missing


def test_type_checkers_see_every_public_name():
    """The imports for type checkers and the table of what is loaded at first use name the same things."""
    lines = [line for line in inspect.getsource(core).splitlines() if line.startswith("    from ")]
    assert {line.rpartition(" as ")[2] for line in lines} == set(core.__all__)
