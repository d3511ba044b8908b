"""The generated pages of docs/reference: settings, API, metrics. A test holds the files to them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
SETTINGS: Final = ROOT / "cosqa_site" / "settings.py"
RUNNING: Final = ROOT / "docs" / "running.md"
MADE: Final = "This page is made by `make references`, from the code. Do not edit it."
KINDS: Final = {
    "boolean": "`true` or `false`",
    "choice": "one of the words",
    "command": "a command with its arguments",
    "date": "a date",
    "emails": "addresses, with commas",
    "hosts": "host names, with commas",
    "integer": "a whole number",
    "origins": "origins with scheme, with commas",
    "issuer": "an `https:` address",
    "path": "a file or folder",
    "prefix": "a path such as `/wb`",
    "roles": "`GROUP=ROLE`, more after semicolons",
    "sender": "an address",
    "text": "text",
    "url": "an address",
    "users": "a range of numbers",
}
"""What each function of cosqa_site/environment.py takes."""
METHODS: Final = ("get", "post", "put", "patch", "delete")


def write_settings() -> str:
    """Each variable that settings.py reads, what docs/running.md says of it, and what it takes."""
    meanings = setting_meanings()
    rows = [f"| `{name}` | {meanings[name]} | {takes} |" for name, takes in sorted(read_settings().items())]
    text = (
        "All settings are environment variables. They are read once, at the start; a wrong value stops the "
        "start and says what was\nexpected. Defaults in words, and what goes together, are in "
        "[running.md](../running.md#every-setting)."
    )
    head = [
        "# Settings",
        "",
        MADE,
        "",
        text,
        "",
        "| variable | what it does | takes |",
        "| --- | --- | --- |",
    ]
    return "\n".join([*head, *rows, ""])


def setting_meanings() -> dict[str, str]:
    """The second column of the table of settings in docs/running.md, by variable."""
    section = RUNNING.read_text("utf-8").partition("## Every setting")[2].partition("\n## ")[0]
    found = {}
    for names, meaning in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE):
        text = re.sub(r"\]\((?!https?:)#", "](running.md#", meaning)
        for name in re.findall(r"`(\w+)`", names):
            found[name] = re.sub(r"\]\((?!https?:)", "](../", text)
    return found


def read_settings() -> dict[str, str]:
    """What each variable takes, by the calls of `read_…_variable` in settings.py."""
    tree = ast.parse(SETTINGS.read_text("utf-8"))
    found = {"COSQA_LLM_PROFILE": "a shipped profile or a `.toml` file; default `anthropic`"}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        kind = re.fullmatch(r"read_(\w+)_variable", call.func.id)
        if kind and call.args and isinstance(call.args[0], ast.Constant):
            found[str(call.args[0].value)] = describe_value(kind[1], call.args[1:])
    return found


def describe_value(kind: str, arguments: list[ast.expr]) -> str:
    given = [ast.literal_eval(argument) for argument in arguments if isinstance(argument, ast.Constant)]
    if kind == "integer":
        default, low, high = given
        return f"{low:,} to {high:,}; default {default:,}"
    if kind == "url" and isinstance(arguments[0], ast.Tuple):
        schemes = [f"`{scheme}:`" for scheme in ast.literal_eval(arguments[0])]
        return f"an address with {' or '.join(schemes)}"
    if kind == "choice" and isinstance(arguments[0], ast.Tuple):
        return "one of " + ", ".join(f"`{word}`" for word in ast.literal_eval(arguments[0]))
    default = given[0] if given and kind != "path" else ""
    shown = str(default).lower() if isinstance(default, bool) else default
    return KINDS[kind] + (f"; default `{shown}`" if shown != "" else "")


def write_api(schema: Mapping[str, Any]) -> str:
    """Each operation of the OpenAPI description, by the first part of its path."""
    text = (
        "Every operation, from the server's own description (`/api/openapi.json`; to try them: `/api/docs`). "
        "Accounts, tokens,\nerrors and how lists go on are in [api.md](../api.md)."
    )
    lines = ["# API operations", "", MADE, "", text, ""]
    group = ""
    for path, operations in sorted(schema["paths"].items()):
        here = path.split("/")[2]
        if here != group:
            group = here
            lines += [f"## {group}", ""]
        for method in METHODS:
            if method in operations:
                lines += describe_operation(method, path, operations[method], schema)
    return "\n".join(lines)


def describe_operation(
    method: str, path: str, operation: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[str]:
    yield f"### {method.upper()} {path}"
    yield ""
    yield " ".join(operation.get("description", operation["summary"]).split())
    yield ""
    for parameter in operation.get("parameters", ()):
        about = " ".join(parameter.get("description", "").split())
        must = "" if parameter["required"] or parameter["in"] == "path" else ", optional"
        yield f"- `{parameter['name']}` ({parameter['in']}{must}){': ' + about if about else ''}"
    body = body_of(operation, schema)
    required = set(body.get("required", ()))
    for name, about in body.get("properties", {}).items():
        told = " ".join(about.get("description", "").split())
        must = "" if name in required else ", optional"
        yield f"- `{name}` (body{must}){': ' + told if told else ''}"
    if operation.get("parameters") or body.get("properties"):
        yield ""
    if example := example_of(operation, body):
        yield from ("```json", json.dumps(example, indent=2, ensure_ascii=False), "```", "")


def body_of(operation: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    described: Mapping[str, Any] = content.get("application/json", {}).get("schema", {})
    name = described.get("$ref", "").rpartition("/")[2]
    return schema["components"]["schemas"][name] if name else described


def example_of(operation: Mapping[str, Any], body: Mapping[str, Any]) -> Any:
    """The first example that the description has of a body."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    named = [each.get("value") for each in content.get("examples", {}).values()]
    return next(iter([*named, *body.get("examples", ()), *filter(None, [body.get("example")])]), None)


def write_metrics(families: Mapping[str, str], sources: Mapping[str, Callable[..., Any]]) -> str:
    """Each measure with the docstring of the function that computes it; `families` has their cut-offs."""
    text = (
        "Each measure by the name that `--metrics` takes, with what the code says of it. `@k` is a number of "
        "results: `ndcg@10`.\n[metrics.md](../metrics.md) has formulas, examples and sources."
    )
    lines = ["# Measures by name", "", MADE, "", text, ""]
    for name, cut in sorted(families.items()):
        source = sources[name]
        told = "\n".join(line.strip() for line in (source.__doc__ or "").strip().splitlines())
        place = source.__module__.replace(".", "/")
        lines += [f"## `{name}{cut}`", "", told, "", f"Code: `{source.__name__}` in `{place}.py`.", ""]
    return "\n".join(lines)
