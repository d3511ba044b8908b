import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import package_names
from sandbox.dependencies import parse_requirement
from sandbox.package_names import (
    distribution_for,
    explain_unsearchable_module,
    find_module_replacement,
    normalize_distribution_name,
)


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("Crypto", "pycryptodome"),
        ("PIL.Image", "pillow"),
        ("bs4", "beautifulsoup4"),
        ("cv2", "opencv-python-headless"),
        ("dateutil", "python-dateutil"),
        ("mpl_toolkits.mplot3d", "matplotlib"),
        ("requests", "requests"),
        ("sklearn.svm", "scikit-learn"),
        ("typing_extensions", "typing-extensions"),
        ("yaml", "PyYAML"),
        ("os", None),
        ("urllib2", None),
        ("no such!", None),
        ("--index-url", None),
        ("", None),
    ],
)
def test_module_to_distribution(module: str, distribution: str | None) -> None:
    assert distribution_for(module) == distribution


def test_the_table_holds_mismatches_only_and_never_hides_the_standard_library() -> None:
    for module, distribution in package_names._DISTRIBUTIONS.items():
        assert normalize_distribution_name(module) != normalize_distribution_name(distribution)
        assert module not in sys.stdlib_module_names and find_module_replacement(module) is None


@given(st.text(max_size=30))
def test_what_a_module_is_searched_under_may_always_be_installed(module: str) -> None:
    found = distribution_for(module)
    if found is not None:
        assert parse_requirement(found).name == found


def test_vanished_modules_tell_what_took_their_place() -> None:
    assert find_module_replacement("urllib2") == "urllib.request"
    assert find_module_replacement("requests") is None


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("ConfigParser", "ConfigParser is a module of Python 2; configparser took its place"),
        ("rexec.RExec", "rexec is a module of Python 2; nothing took its place"),
        ("formatter", "formatter was removed in Python 3.10; nothing took its place"),
        ("tkinter", "tkinter is a module of the standard library that the sandbox does not have"),
        ("six", None),
    ],
)
def test_some_modules_are_never_searched_for(module: str, why: str | None) -> None:
    assert explain_unsearchable_module(module) == why


def test_no_removed_module_is_searched_for_whatever_python_runs_this() -> None:
    assert all(
        explain_unsearchable_module(name) and distribution_for(name) is None
        for name in package_names._VANISHED
    )
