"""Templates that extend others: what one of them calls a block is no block of those above it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.template import Context
from django.template.loader import get_template
from django.template.loader_tags import BlockNode, ExtendsNode

FOLDER = Path(__file__).resolve().parents[2] / "templates"
NAMES = sorted(
    str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html") if path.parent.name != "admin"
)


def extension_of(name: str) -> ExtendsNode | None:
    nodes = get_template(name).template.nodelist  # type: ignore[attr-defined]  # it is Django's own
    return next((node for node in nodes if isinstance(node, ExtendsNode)), None)


def parent_of(name: str) -> str | None:
    extends = extension_of(name)
    return str(extends.parent_name.resolve(Context())) if extends else None  # type: ignore[union-attr]


def blocks_in(name: str) -> set[str]:
    nodes = get_template(name).template.nodelist  # type: ignore[attr-defined]
    return {block.name for block in nodes.get_nodes_by_type(BlockNode) if isinstance(block, BlockNode)}


def nested_blocks(node: BlockNode) -> Iterator[str]:
    """Names of the blocks inside a block."""
    blocks = node.get_nodes_by_type(BlockNode)
    return (block.name for block in blocks if isinstance(block, BlockNode) and block is not node)


@pytest.mark.parametrize("name", NAMES)
def test_no_block_inside_a_block_takes_the_place_of_another_one_above(name: str) -> None:
    """Else it is shown in both places, and what was above is gone: a `head` in `content` took the scripts."""
    extends, above, parent = extension_of(name), set[str](), parent_of(name)
    while parent:
        above |= blocks_in(parent)
        parent = parent_of(parent)
    inside = {
        inner for block in (extends.blocks.values() if extends else ()) for inner in nested_blocks(block)
    }
    assert not inside & above
