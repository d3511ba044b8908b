"""Archives: what they hold is read in memory, what would harm is refused with a message."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from random import Random

import pytest

from retrieval.licences import classify_licence
from retrieval.sources import Problem
from retrieval.sources.code import archives, files
from retrieval.sources.code.archives import read_tar, read_zip
from retrieval.sources.code.files import SourceFile, licence_in_metadata, licence_of

ENDINGS = (".py",)
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any\nperson obtaining a copy"


CODE = "def f(a): return a"
MIT_OF_PYPI = "License :: OSI Approved :: MIT License"


def tarred(path: Path, *members: tuple[str, str], kind: bytes = tarfile.REGTYPE) -> Path:
    """A tar of (name, content); of another kind all are links to a file that is there."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "" if kind == tarfile.REGTYPE else "/etc/passwd"
            info.size = len(content.encode()) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(content.encode()))
    return path


def names(found: list[SourceFile | Problem]) -> list[str]:
    return [file.name for file in found if isinstance(file, SourceFile)]


def problems(found: list[SourceFile | Problem]) -> list[str]:
    return [str(problem) for problem in found if isinstance(problem, Problem)]


def test_an_sdist_states_its_licence(tmp_path: Path) -> None:
    about = ("a-1/PKG-INFO", "Name: a\nLicense: MIT\n")
    sdist = tarred(tmp_path / "a-1.tar.gz", ("a-1/m.py", CODE), ("a-1/README", "text"), about)
    assert list(read_tar(sdist, ENDINGS)) == [SourceFile("a-1/m.py", CODE.encode(), "a-1.tar.gz", "MIT")]


@pytest.mark.parametrize("name", ["/abs.py", "../up.py", "a/../../b.py", "C:\\w.py", "\\\\host\\w.py"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    tar = tarred(tmp_path / "a.tgz", (name, CODE), ("good.py", CODE))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), "x")
        archive.writestr("good.py", "x")
    for found in (list(read_tar(tar, ENDINGS)), list(read_zip(tmp_path / "a.zip", ENDINGS))):
        assert names(found) == ["good.py"]
        assert "leads out of the archive" in problems(found)[0]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_of_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    tar = tarred(tmp_path / "a.tar.gz", ("a.py", ""), kind=kind)
    assert problems(list(read_tar(tar, ENDINGS))) == ["a.tar.gz: a.py: is a link or no file and is skipped"]


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a.py")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert "is a link" in problems(list(read_zip(tmp_path / "a.zip", ENDINGS)))[0]


def test_members_and_bytes_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tar = tarred(tmp_path / "a.tar.gz", *((f"{n}.py", CODE) for n in range(9)))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for n in range(9):
            archive.writestr(f"{n}.py", CODE)
    monkeypatch.setattr(archives, "UNPACKED_LIMIT", 60)
    for found in (list(read_tar(tar, ENDINGS)), list(read_zip(tmp_path / "a.zip", ENDINGS))):
        assert len(names(found)) in (3, 4)
        assert "unpacks to more than 60 bytes" in problems(found)[-1]
    monkeypatch.setattr(archives, "MEMBERS_LIMIT", 5)
    for found in (list(read_tar(tar, ENDINGS)), list(read_zip(tmp_path / "a.zip", ENDINGS))):
        assert "more than 5 members" in problems(found)[-1] or "more than 60" in problems(found)[-1]


def test_a_huge_member_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILE_LIMIT", 100)
    tar = tarred(tmp_path / "a.tar.gz", ("big.py", "#" * 101), ("b.py", CODE))
    found = list(read_tar(tar, ENDINGS))
    assert names(found) == ["b.py"]
    assert problems(found) == ["a.tar.gz: big.py: is longer than 100 bytes and is skipped"]


def test_a_header_without_end_is_not_read(tmp_path: Path) -> None:
    """A name of 2 GB would be read into memory before any limit on members is asked."""
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2 * 2**30
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(long_name.tobuf(tarfile.GNU_FORMAT) + b"\0" * 10_000))
    assert "a header of 2,147,483,648 bytes" in problems(list(read_tar(path, ENDINGS)))[0]


def test_a_damaged_tar_keeps_what_came_before(tmp_path: Path) -> None:
    random = Random(7)
    tar = tarred(tmp_path / "a.tar", *((f"{n}.py", random.randbytes(9999).hex()) for n in range(5)))
    tar.write_bytes(tar.read_bytes()[:-20_000])
    found = list(read_tar(tar, ENDINGS))
    assert names(found)[:2] == ["0.py", "1.py"]
    assert problems(found)[-1].startswith(f"{tar}: is not a readable tar or sdist: ")


@pytest.mark.parametrize("rest", [b"", b"half a header", b"x" * 512])
def test_a_tar_that_ends_at_a_header_is_told(tmp_path: Path, rest: bytes) -> None:
    tar = tarred(tmp_path / "a.tar.gz", ("0.py", CODE), ("1.py", CODE))
    tar.write_bytes(gzip.compress(gzip.decompress(tar.read_bytes())[:1024] + rest))
    found = list(read_tar(tar, ENDINGS))
    assert names(found) == ["0.py"]
    assert "is not a readable tar or sdist: cut off or damaged: " in problems(found)[0]


def test_a_header_of_gzip_that_cannot_be_skipped_is_told(tmp_path: Path) -> None:
    tar = tarred(tmp_path / "a.tar.gz", ("0.py", CODE))
    content = bytearray(tar.read_bytes())
    content[3] |= 4  # says that a further field follows
    for damaged in (content, content[:3]):
        tar.write_bytes(damaged)
        assert "is not a readable tar or sdist: a header of gzip" in problems(list(read_tar(tar, ENDINGS)))[0]


def test_an_encrypted_member_is_told(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.py", "x = 1")
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    assert "cannot be unpacked" in problems(list(read_zip(tmp_path / "a.zip", ENDINGS)))[0]


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_told_however_it_is_packed(tmp_path: Path, packing: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", packing) as archive:
        archive.writestr("a.py", CODE * 50)
        archive.writestr("b.py", CODE)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    begins = 30 + len("a.py") + (9 if packing == zipfile.ZIP_LZMA else 0)
    content[begins : begins + 12] = bytes(byte ^ 0xFF for byte in content[begins : begins + 12])
    (tmp_path / "a.zip").write_bytes(content)
    found = list(read_zip(tmp_path / "a.zip", ENDINGS))
    assert names(found) == ["b.py"]
    assert problems(found)[0].startswith("a.zip: a.py: cannot be unpacked: ")


def test_the_licence_at_the_root_of_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a-main/LICENSE", MIT)
        archive.writestr("a-main/deep/er/LICENSE", "GNU GENERAL PUBLIC LICENSE Version 3")
        archive.writestr("a-main/m.py", "x = 1")
    (file,) = read_zip(tmp_path / "a.zip", ENDINGS)
    assert isinstance(file, SourceFile)
    assert file.licence == "MIT"


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        (f"Name: a\nLicense: Ours {'x' * 100}\n\nLicense: MIT\n", f"Ours {'x' * 100}"),
        ("Name: a\r\nLicense: UNKNOWN\r\n\r\nLicense: ISC\r\n", ""),
        ("Name: a\n\nLicense: ISC\n", ""),
        (f"Classifier: License :: OSI Approved\nClassifier: {MIT_OF_PYPI}\n", MIT_OF_PYPI),
        (f"Classifier: {MIT_OF_PYPI}\nLicense-Expression: MIT\nLicense: The MIT License\n", "MIT"),
        ("License: BSD-3-Clause\nClassifier: License :: OSI Approved :: BSD License\n", "BSD-3-Clause"),
        ("Classifier: Programming Language :: Python\nClassifier: License :: OSI Approved\n", ""),
    ],
)
def test_a_description_is_no_licence_and_a_long_one_is_one(
    tmp_path: Path, metadata: str, licence: str
) -> None:
    tar = tarred(tmp_path / "a.tar.gz", ("a/m.py", CODE), ("a/PKG-INFO", metadata))
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("m.py", CODE)
        archive.writestr("a-1.dist-info/METADATA", metadata)
    for (file,) in (read_tar(tar, ENDINGS), read_zip(tmp_path / "a.whl", ENDINGS)):
        assert isinstance(file, SourceFile) and file.licence == licence


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (["License: MIT", "Classifier: License :: Other/Proprietary License"], "forbidden"),
        (["License-Expression: MIT OR ISC", "License: Ours"], "forbidden"),
        ([f"Classifier: {MIT_OF_PYPI}", "Classifier: License :: Free for non-commercial use"], "forbidden"),
        (["License: see LICENSE", f"Classifier: {MIT_OF_PYPI}"], "forbidden"),
        ([f"Classifier: {MIT_OF_PYPI}", "Classifier: License :: OSI Approved :: BSD License"], "allowed"),
        (["License: MIT", "License-Expression: Apache-2.0"], "allowed"),
    ],
)
def test_of_what_contradicts_all_has_to_hold(stated: list[str], says: str) -> None:
    for lines in (stated, stated[::-1]):
        assert classify_licence(licence_in_metadata("\n".join(["Name: a", *lines]))) == says


def test_the_licence_at_the_root_stands_over_one_of_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name, content in (
            ("vendor/LICENSE", MIT),
            ("LICENSE", "Apache License\nVersion 2.0"),
            ("m.py", CODE),
        ):
            archive.writestr(name, content)
    (file,) = read_zip(tmp_path / "a.zip", ENDINGS)
    assert isinstance(file, SourceFile) and file.licence == "Apache-2.0"


def test_known_licences() -> None:
    assert licence_of("GNU LESSER GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007") == "LGPL-3.0"
    assert licence_of("All rights reserved.") == ""
