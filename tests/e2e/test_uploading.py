"""Uploads in a browser: a table with its columns, a zip, one that fails; and a filtered collection."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Login
from tests.e2e.workbench import Workbench

ROWS = (
    b'id,question,answer,judged\n1,sort a list,"def f(x):\n    return sorted(x)",1\n'
    b"2,read a file,nothing,maybe\n"
)
BEIR = {
    "scifact/corpus.jsonl": '{"_id": "d1", "title": "", "text": "def f(x):\\n    return sorted(x)"}\n',
    "scifact/queries.jsonl": '{"_id": "q1", "text": "sort a list"}\n',
    "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
}


def zipped(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def a_file(name: str, content: bytes) -> Any:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def upload(page: Page, url: str, name: str, format_: str, file: Any) -> None:
    page.goto(f"{url}/collections/upload/?name={name}")
    page.locator(f'input[name="format"][value="{format_}"]').check()
    page.locator('input[name="file"]').set_input_files(file)
    page.get_by_role("button", name="Upload").click()


def row(page: Page, name: str) -> Locator:
    return page.locator("#jobs tbody tr", has=page.get_by_role("rowheader", name=re.compile(f"^{name}")))


def test_a_table_is_uploaded_and_its_columns_are_chosen(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    upload(page, server.url, "e2e-table", "table", a_file("pairs.csv", ROWS))
    expect(page.get_by_role("heading", name="Columns of e2e-table")).to_be_visible()
    expect(page.get_by_label("Queries", exact=True)).to_have_value("question")
    expect(page.get_by_label("Functions", exact=True)).to_have_value("answer")
    expect(page.get_by_label("Ids of the queries")).to_have_value("id")
    page.get_by_label("Ids of the functions").select_option("id")
    page.get_by_role("button", name="Import").click()
    done = row(page, "e2e-table")
    expect(done).to_contain_text("done in part")
    expect(done).to_contain_text("1 label. No benchmark is published")
    done.locator("summary").click()
    expect(done).to_contain_text("\"judged\" is 'maybe'; expected 0 or 1")


def test_only_what_the_format_asks_is_shown(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/collections/upload/?format=beir")
    expect(page.get_by_label("Labels of this split only")).to_be_visible()
    expect(page.get_by_text("A zip of the folder with corpus.jsonl")).to_be_visible()
    expect(page.get_by_label("Code base", exact=True)).to_be_hidden()
    page.locator('input[name="format"][value="cosqa-plus"]').check()
    expect(page.get_by_label("Code base", exact=True)).to_be_visible()
    expect(page.get_by_label("Labels of this split only")).to_be_hidden()


def test_a_zip_is_imported_and_one_that_leads_out_fails_with_a_way_back(
    login: Login, server: Workbench
) -> None:
    page = login("ada").new_page()
    upload(page, server.url, "e2e-beir", "beir", a_file("scifact.zip", zipped(BEIR)))
    expect(row(page, "e2e-beir")).to_contain_text("1 label; benchmark e2e-beir, version 1")
    hostile = zipped({**BEIR, "../out.jsonl": "x"})
    upload(page, server.url, "e2e-out", "beir", a_file("out.zip", hostile))
    failed = row(page, "e2e-out")
    expect(failed).to_contain_text("Failed")
    failed.locator("summary").click()
    expect(failed).to_contain_text("a link or a path that leads out")
    failed.get_by_role("link", name="Upload it again").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("e2e-out")
    expect(page.locator('input[name="format"][value="beir"]')).to_be_checked()


def test_an_address_of_the_own_network_fails_and_is_kept_in_the_form(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/collections/upload/?name=e2e-far&format=codesearchnet")
    expect(page.get_by_label("Or the address of the code base")).to_be_hidden()
    page.get_by_label("Or its address").fill("http://127.0.0.1:9/codes.jsonl")
    page.get_by_role("button", name="Upload").click()
    failed = row(page, "e2e-far")
    expect(failed).to_contain_text("127.0.0.1 is no public machine")
    failed.get_by_role("link", name="Upload it again").click()
    expect(page.get_by_label("Or its address")).to_have_value("http://127.0.0.1:9/codes.jsonl")


def test_a_collection_of_what_passes_filters_is_made(login: Login, server: Workbench) -> None:
    page = login("ada").new_page()
    page.goto(f"{server.url}/collections/")
    page.locator("tr", has_text="functions").get_by_role("link", name="sample", exact=True).first.click()
    page.get_by_role("link", name="Filters", exact=True).click()
    page.locator('input[name="filters"][value="testable"]').check()
    page.locator('input[name="filters"][value="distinct"]').check()
    page.get_by_label("Name of the new collection").fill("e2e-filtered")
    page.get_by_role("button", name="Make the collection").click()
    page.get_by_role("link", name="e2e-filtered, version 1").click()
    expect(page.get_by_role("heading", name="e2e-filtered")).to_be_visible()
    expect(page.get_by_text("Refused: distinct")).to_be_visible()
