"""Licences however people, GitHub and PyPI write them, and what of them may be passed on."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval.licences import (
    REDISTRIBUTABLE,
    LicenseStanding,
    classify_licence,
    is_licence_superset,
    may_be_passed_on,
    shorten_licence,
    spdx_expression,
)

WRITTEN = {
    "MIT": ["mit", "MIT License", "The MIT License (MIT)", "Expat License", "MIT/X11", '"MIT".'],
    "Apache-2.0": [
        *("apache-2.0", "Apache 2.0", "Apache 2", "Apache License, Version 2.0", "ALv2"),
        *("Apache License v2.0", "ASL 2.0", "Apache Software License 2.0"),
    ],
    "Apache": ["Apache", "License :: OSI Approved :: Apache Software License"],
    "BSD": ["BSD", "bsd license", "License :: OSI Approved :: BSD License"],
    "BSD-2-Clause": ["bsd-2-clause", 'BSD 2-Clause "Simplified" License', "Simplified BSD", "FreeBSD"],
    "BSD-3-Clause": [
        *("BSD-3", "BSD 3-Clause", "3-Clause BSD License", "BSD (3-clause)", "Modified BSD"),
        "New BSD License",
        'BSD 3-Clause "New" or "Revised" License',
    ],
    "0BSD": ["0bsd", "BSD Zero Clause License"],
    "GPL-2.0-or-later": ["GPL v2 or later", "GPL-2 or any later version", "GPLv2+"],
    "GPL-2.0-only": ["gpl-2.0-only", "GNU GPL v2.0 only"],
    "GPL-3.0": ["GPLv3", "GPL-3", "GNU General Public License v3.0"],
    "GPL-3.0-or-later": ["License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)"],
    "LGPL-2.1": ["GNU Lesser General Public License v2.1", "LGPL 2.1"],
    "LGPL": ["License :: OSI Approved :: GNU Library or Lesser General Public License (LGPL)"],
    "AGPL-3.0": ["License :: OSI Approved :: GNU Affero General Public License v3", "AGPLv3"],
    "MPL-2.0": ["License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)", "MPL 2"],
    "PSF-2.0": ["License :: OSI Approved :: Python Software Foundation License", "PSF"],
    "ISC": ["ISC License", "License :: OSI Approved :: ISC License (ISCL)"],
    "Unlicense": ["The Unlicense", "License :: OSI Approved :: The Unlicense (Unlicense)"],
    "BSL-1.0": ["Boost Software License 1.0", "Boost Software License 1.0 (BSL-1.0)"],
    "EPL-2.0": ["Eclipse Public License 2.0"],
    "WTFPL": ["Do What The F*ck You Want To Public License"],
    "CC0-1.0": ["CC0", "Creative Commons Zero v1.0 Universal"],
    "CC-BY-4.0": ["CC BY 4.0", "Creative Commons Attribution 4.0 International"],
    "CC-BY-SA-4.0": ["Creative Commons Attribution-ShareAlike 4.0 International (CC BY-SA 4.0)"],
    "CC-BY-NC-4.0": ["Creative Commons Attribution-NonCommercial 4.0 International (CC BY-NC 4.0)"],
    "MIT OR Apache-2.0": ["MIT/Apache-2.0", "MIT or Apache 2.0", "(mit OR apache-2.0)", "MIT and/or ALv2"],
    "MIT AND BSD": ["MIT, BSD", "MIT and BSD license", "License :: OSI Approved :: MIT License; BSD"],
    "(MIT OR Apache-2.0) AND ISC": ["(MIT License OR Apache 2.0) and ISC"],
    "GPL-2.0 WITH Classpath-exception-2.0": ["gpl-2.0 with classpath-exception-2.0"],
    "": ["", "  \n", "Unknown", "NONE", "NOASSERTION", "n/a", "nan", "No license"],
}


@pytest.mark.parametrize(("licence", "written"), [(name, one) for name in WRITTEN for one in WRITTEN[name]])
def test_a_licence_by_the_words_that_people_use(licence: str, written: str) -> None:
    assert spdx_expression(written) == spdx_expression(licence) == licence


@pytest.mark.parametrize(
    "written",
    [
        *("ask us", "Public Domain", "All rights reserved", "not the MIT License", "UNLICENSED", "Foo (MIT"),
        *(
            "()",
            "or",
            "Business Source License 1.1",
            "License :: Other/Proprietary License",
            "od|d `x`",
            "MIT OR",
            "(",
        ),
    ],
)
def test_what_no_words_tell_stays_as_it_is_and_is_not_passed_on(written: str) -> None:
    assert (spdx_expression(written), classify_licence(written)) == (written, LicenseStanding.FORBIDDEN)


@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("MIT", True),
        ("apache-2.0", True),
        ("GPL-3.0-or-later", True),
        ("GPL-2.0+", True),
        ("GPLv2+", True),
        ("MIT OR Proprietary", True),
        ("MIT AND Proprietary", False),
        ("MIT AND Proprietary OR ISC", True),
        ("MIT AND (Proprietary OR CC-BY-NC-4.0)", False),
        ("MIT License, see elsewhere", False),
        ("License :: OSI Approved :: MIT License; License :: Other/Proprietary License", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH Commons-Clause", False),
        ("MIT WITH no commercial use", False),
        ("MIT License 非商用", False),
        ("MIT (кроме коммерции)", False),
        ("", False),
        ("CC-BY-NC-4.0", False),
        ("C-UDA-1.0", False),
        ("BUSL-1.1", False),
    ],
)
def test_which_licences_let_a_snippet_be_passed_on(licence: str, free: bool) -> None:
    assert may_be_passed_on(licence) is free


@pytest.mark.parametrize(
    ("licence", "other", "is_in_it"),
    [
        ("MIT", "License :: OSI Approved :: MIT License", True),
        ("Apache-2.0 OR BSD-3-Clause", "License :: OSI Approved :: Apache Software License", True),
        ("LGPL-3.0-or-later", "License :: OSI Approved :: GNU General Public License (GPL)", False),
        ("MIT", "License :: Other/Proprietary License", False),
        ("BSD", "BSD-3-Clause", False),
        ("0BSD", "BSD", False),
        ("ask us", "License :: OSI Approved :: MIT License", False),
    ],
)
def test_whether_a_licence_says_all_that_another_one_does(licence: str, other: str, is_in_it: bool) -> None:
    assert is_licence_superset(licence, other) is is_in_it


def test_the_table_is_of_spdx_identifiers() -> None:
    assert {spdx_expression(name).lower() for name in REDISTRIBUTABLE} == REDISTRIBUTABLE


PIECES = ["MIT", "Apache 2.0", "or", "AND", "(", ")", "/", ",", "WITH", "x", "+", '"', "::", "none"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join) | st.text(max_size=40))
@example("(" * 900)
@example("MIT or " * 500)
def test_any_text_says_something(text: str) -> None:
    assert classify_licence(text) in LicenseStanding
    assert bool(spdx_expression(text)) is (classify_licence(text) is not LicenseStanding.UNSTATED)


@given(most=st.integers(7, 60))
def test_what_is_cut_off_a_licence_still_has_to_hold(most: int) -> None:
    cut = shorten_licence("MIT AND ISC AND (Apache-2.0 OR 0BSD) AND Zlib AND CC-BY-NC-4.0", most)
    assert len(cut) == most
    assert classify_licence(cut) is LicenseStanding.FORBIDDEN
    assert shorten_licence("MIT", 3) == "MIT"
