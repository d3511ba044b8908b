"""Named steps of a filter, with how many each refused and examples of what."""

from __future__ import annotations

from dataclasses import dataclass, field

EXAMPLES = 3
EXAMPLE_LENGTH = 200


@dataclass
class Step:
    """What one named step refused: how many, and the first of them, each cut to 200 characters."""

    refused: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass
class Refusals:
    """The steps of a filter by name, in the order in which they first refused something."""

    steps: dict[str, Step] = field(default_factory=dict)

    def refuse(self, name: str, example: str) -> None:
        step = self.steps.setdefault(name, Step())
        step.refused += 1
        if len(step.examples) < EXAMPLES:
            step.examples.append(example[:EXAMPLE_LENGTH])

    def lines(self) -> list[str]:
        """One line for each step, for people."""
        return [
            f"  {step.refused:,} refused: {name} (such as {', '.join(step.examples)})"
            for name, step in self.steps.items()
        ]
