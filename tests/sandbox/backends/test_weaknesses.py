import pytest

from sandbox.backends.weaknesses import list_weakness_checks


@pytest.mark.parametrize(
    ("part", "version", "known"),
    [
        ("runc", "1.1.5+ds1", ["CVE-2024-21626", "CVE-2025-31133"]),
        ("runc", "1.1.12", ["CVE-2025-31133"]),
        ("runc", "1.2.7", ["CVE-2025-31133"]),
        ("runc", "1.2.8", []),
        ("runc", "1.3.2", ["CVE-2025-31133"]),
        ("runc", "1.3.3", []),
        ("runc", "1.4.0", []),
        ("Engine", "20.10.24+dfsg1", ["no repairs", "CVE-2024-23651"]),
        ("Engine", "24.0.9", []),
        ("Engine", "25.0.1", ["CVE-2024-23651"]),
        ("Engine", "28.2.2", []),
        ("kernel", "5.4.0-42-generic", ["processes together"]),
        ("kernel", "5.10.101", ["CVE-2022-0847", "processes together"]),
        ("kernel", "5.15.24", ["CVE-2022-0847"]),
        ("kernel", "6.1.0-13-amd64", []),
        ("bubblewrap", "bubblewrap 0.6.2", ["--disable-userns"]),
        ("bubblewrap", "bubblewrap 0.11.0", []),
    ],
)
def test_versions_and_what_is_known_of_them(part: str, version: str, known: list[str]) -> None:
    (check,) = list_weakness_checks({part: version})
    assert check.ok == (not known) and not check.required
    assert all(one in check.found for one in known)
    assert bool(check.advice) == bool(known)


@pytest.mark.parametrize("versions", [{}, {"runc": ""}, {"runc": "unknown"}, {"crun": "0.1"}])
def test_of_what_is_not_known_nothing_is_said(versions: dict[str, str]) -> None:
    assert list(list_weakness_checks(versions)) == []
