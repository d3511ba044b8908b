"""From a table to a leaderboard by REST alone: `python rest.py ADDRESS TOKEN FOLDER`.

The requests are answered by a rule of one line. Ask your model there.
"""

import csv
import re
import sys
import time
from pathlib import Path

import requests

ADDRESS, TOKEN, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
ROWS = [
    ("sort a list of numbers", "def sort_numbers(numbers):\n    return sorted(numbers)"),
    ("add two numbers", "def add(first, second):\n    return first + second"),
    ("reverse a string", "def reverse_text(text):\n    return text[::-1]"),
    ("count the words of a text", "def count_words(text):\n    return len(text.split())"),
]
http = requests.Session()
http.headers["Authorization"] = f"Bearer {TOKEN}"


def call(method, path, **sent):
    answer = http.request(method, f"{ADDRESS}/api/{path}", timeout=60, **sent)
    if not answer.ok:
        raise SystemExit(f"{path}: {answer.json()['detail']}")
    return answer.json()


def finish(job):
    """Look at a job until it is over; what came of it."""
    while job["state"] in ("waiting", "running"):
        time.sleep(0.5)
        job = call("GET", f"jobs/{job['id']}")
    if job["state"] not in ("done", "partial"):
        raise SystemExit(f"{job['kind']} {job['state']}: {job['message']}")
    return job["result"]


def answer(messages):
    """Whether the name of the function has a word of the query."""
    text = messages[-1]["content"]
    name = re.search(r"def (\w+)", text)[1]
    words = re.findall(r"\w+", text.partition("def ")[0].lower())
    return {"verdict": int(any(word in words for word in name.split("_"))), "explanation": "by its name"}


# Import a table of queries and functions.
table = FOLDER / "mine.csv"
with table.open("w", newline="") as file:
    csv.writer(file).writerows([("query", "code"), *ROWS])
with table.open("rb") as file:
    fields = {"name": "mine", "format": "table", "columns": "guess"}
    print(
        "imported", finish(call("POST", "collections/imports", data=fields, files={"file": file}))["stored"]
    )

# Launch a build, and answer its requests until it is over.
order = {"name": "mine", "queries": "mine", "functions": "mine", "k": 2}
build = call("POST", "builds", json=order)["id"]
while (state := call("GET", f"builds/{build}")["state"]) in ("running", "waiting"):
    page = call("GET", f"builds/{build}/requests")
    replies = [{"id": item["id"], "reply": answer(item["messages"])} for item in page["items"]]
    if replies:
        told = call("POST", f"builds/{build}/replies", json={"model": "by-name", "replies": replies})
        assert not told["refused"], told["refused"]
    else:
        time.sleep(0.5)
print("build", state)

# Publish it, have an encoder search it, look at the leaderboard, and fetch an export.
benchmark = finish(call("POST", f"builds/{build}/benchmarks", json={}))["benchmark"]
finish(call("POST", f"benchmarks/{benchmark}/scores", json={"encoders": ["bm25"]}))
board = call("GET", f"benchmarks/{benchmark}/leaderboard", params={"metric": "mrr@10"})
for system in board["systems"]:
    print(f"{system['system']:6} {system['figures']['mrr@10']['value']:.3f}")
job = call("POST", f"benchmarks/{benchmark}/exports", json={"format": "beir"})
finish(job)
export = http.get(f"{ADDRESS}/api/benchmarks/{benchmark}/exports/{job['id']}/file", timeout=60)
(FOLDER / "mine.zip").write_bytes(export.content)
print("exported", "mine.zip")
