"""The receiver of docs/api.md checks what a worker really sends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytest_django import Settings

from annotation.jobs import webhook_delivery
from annotation.webhooks.signature import derive_secret
from retrieval.sources.web.post import NotPosted, post_bytes
from tests import factories
from tests.ports import free_port

pytestmark = pytest.mark.django_db
TEXT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
PATIENCE = 30.0


def test_the_documented_receiver_takes_our_messages_and_no_others(settings: Settings, tmp_path: Path) -> None:
    settings.DOWNLOAD_PRIVATE = True
    [code] = re.findall(r"```python\n(import base64.*?)```", TEXT, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 17
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    webhook = factories.webhook(address=url)
    environment = {**os.environ, "WEBHOOK_SECRET": derive_secret(webhook.salt)}
    script = tmp_path / "receiver.py"
    script.write_text(code.replace("8080", str(port)))
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            wait_for_answer(url)
            delivery = factories.webhook_delivery(webhook)
            assert webhook_delivery.send_due_delivery() == 1
            delivery.refresh_from_db()
            assert (delivery.state, delivery.status) == ("sent", 204), delivery.error
            assert process.stdout is not None
            message, _, body = process.stdout.readline().partition(" ")
            assert (message, json.loads(body)) == (delivery.message, json.loads(delivery.body))
            headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time()))}
            forged = {**headers, "webhook-signature": "v1,Zm9yZ2Vk"}
            assert post_bytes(url, b"{}", forged, public=False).status == 400
        finally:
            process.kill()


def wait_for_answer(url: str) -> None:
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            post_bytes(url, b"{}", {"webhook-timestamp": "0", "webhook-signature": "v1,x"}, public=False)
        except NotPosted:
            if time.monotonic() > ends:
                raise
            time.sleep(0.1)
        else:
            return
