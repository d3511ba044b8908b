"""Documented functions of Go, JavaScript, PHP and Ruby, as their authors write them."""

from pathlib import Path

import pytest

from retrieval.filters.steps import Refusals
from retrieval.sources import Snippet
from retrieval.sources.code.extraction import find_broken_rule, functions_of, read_documented_functions
from retrieval.sources.code.files import SourceFile
from retrieval.sources.code.languages import LANGUAGES
from retrieval.sources.formats.tokens import code_tokens

GO = """// Licence of the whole file.

package main

// Add adds two numbers.
// It keeps both.
//go:noinline
func Add(a int, b int) int {
	c := a + b
	return c
}

/* Push puts one number on top. */
func (s *Stack) Push(x int) error {
	s.all = append(s.all, x)
	return nil
}

// This stands alone and documents nothing.

func Silent(x int) int {
	x++
	return x
}

// Stop gives up at once.
func Stop() {
	panic("no")
	return
}

// Nothing is done at all.
func Nothing() {
	// later
}
"""
JAVASCRIPT = """/**
 * Adds two numbers {@link together}.
 * @param {number} a
 */
function add(a, b) {
  const c = `one
    two`;
  return a + b + c;
}

// Multiplies two numbers
// without a sum.
export const multiply = (a, b) => {
  const c = a * b;
  return c;
};

/** Walks all of the way. */
A.prototype.walk = function (way) {
  this.go(way);
  return way;
};

class Pet {
  /** Names the pet at once. */
  static name(x) {
    const y = x;
    return y;
  }

  /** Makes one of these pets. */
  constructor(x) {
    this.x = x;
    this.y = x;
  }
}

/** Always throws an error here. */
export function fail() {
  throw new Error();
  return 1;
}
"""
PHP = """<?php
namespace App {
    /** Doubles one number for you. */
    function twice($a) {
        $b = $a * 2;
        return $b;
    }

    trait Named {
        /**
         * Gets the name of it.
         *
         * @return string
         */
        public static function name($x) {
            $text = 'a
              b';
            return $text;
        }

        /** Makes one of these now. */
        public function __construct($x) {
            $this->x = $x;
            $this->y = $x;
        }

        /** Only its children can. */
        abstract function later($x);

        /** Always throws an error here. */
        function fail() {
            throw new Exception();
            return 1;
        }

        // No documentation of this one.
        function silent($x) {
            $y = $x;
            return $y;
        }
    }
}
"""
RUBY = """# Adds one to it.
def top(a)
  b = a
  b + 1
end

module Zoo
  class Pet < Base
    # Names the pet at once,
    # and for ever.
    def name(x)
      y = x
      y.to_s
    end

    # Makes one from text.
    def self.parse(text)
      y = text
      new(y)
    end

    # Compares two of these pets.
    def ==(other)
      x = other
      x
    end

    # Always raises an error here.
    def fail
      raise "no"
      1
    end
  end
end
"""
SOURCES = {"go": GO, "javascript": JAVASCRIPT, "php": PHP, "ruby": RUBY}


def kept(language: str, name: str = "") -> dict[str, tuple[str, str]]:
    """What stands for a query and the text, of each function that no rule refuses."""
    return {
        function.qualified_name: (function.question, function.text)
        for function in functions_of(a_file(language, name), language)
        if not find_broken_rule(function)
    }


def a_file(language: str, name: str = "") -> SourceFile:
    path = name or f"m{LANGUAGES[language].endings[0]}"
    return SourceFile(path, SOURCES[language].encode(), "", "")


QUESTIONS = {
    "go": {"Add": "Add adds two numbers. It keeps both.", "Push": "Push puts one number on top."},
    "javascript": {
        "add": "Adds two numbers together.",
        "multiply": "Multiplies two numbers without a sum.",
        "A.prototype.walk": "Walks all of the way.",
        "Pet.name": "Names the pet at once.",
    },
    "php": {"twice": "Doubles one number for you.", "Named.name": "Gets the name of it."},
    "ruby": {
        "top": "Adds one to it.",
        "Zoo.Pet.name": "Names the pet at once, and for ever.",
        "Zoo.Pet.parse": "Makes one from text.",
    },
}
REFUSED = {
    "go": {"Silent": "no documentation", "Stop": "empty body", "Nothing": "empty body"},
    "javascript": {"Pet.constructor": "special method", "fail": "empty body"},
    "php": {
        "Named.__construct": "special method",
        "Named.later": "empty body",
        "Named.fail": "empty body",
        "Named.silent": "no documentation",
    },
    "ruby": {"Zoo.Pet.==": "special method", "Zoo.Pet.fail": "empty body"},
}


@pytest.mark.parametrize("language", SOURCES)
def test_documented_functions_have_their_first_paragraph(language: str) -> None:
    assert {name: question for name, (question, _) in kept(language).items()} == QUESTIONS[language]


@pytest.mark.parametrize("language", SOURCES)
def test_why_functions_are_refused(language: str) -> None:
    why = {
        found.qualified_name: find_broken_rule(found) for found in functions_of(a_file(language), language)
    }
    assert {name: rule for name, rule in why.items() if rule} == REFUSED[language]


@pytest.mark.parametrize(
    ("language", "name", "text"),
    [
        ("go", "Add", "func Add(a int, b int) int {\n\tc := a + b\n\treturn c\n}"),
        ("javascript", "multiply", "multiply = (a, b) => {\n  const c = a * b;\n  return c;\n}"),
        ("javascript", "Pet.name", "static name(x) {\n  const y = x;\n  return y;\n}"),
        ("ruby", "Zoo.Pet.name", "def name(x)\n  y = x\n  y.to_s\nend"),
        ("php", "twice", "function twice($a) {\n    $b = $a * 2;\n    return $b;\n}"),
    ],
)
def test_a_function_stands_at_the_left_margin(language: str, name: str, text: str) -> None:
    assert kept(language)[name][1] == text


def test_strings_of_several_lines_keep_their_indent() -> None:
    assert "'a\n              b'" in kept("php")["Named.name"][1]
    assert "`one\n    two`" in kept("javascript")["add"][1]


@pytest.mark.parametrize(
    ("language", "path"),
    [
        ("go", "vendor/a/m.go"),
        ("javascript", "web/node_modules/a/m.js"),
        ("php", "vendor/m.php"),
        ("ruby", "lib/test/m.rb"),
    ],
)
def test_code_of_others_and_tests_are_refused(language: str, path: str) -> None:
    assert kept(language, path) == {}


@pytest.mark.parametrize("language", SOURCES)
def test_a_fault_costs_its_function_alone(language: str) -> None:
    broken = (
        SOURCES[language].replace("return c", "return = c").replace("b + 1", "b + )").replace("$b;", "$b")
    )
    file = SourceFile("m", broken.encode(), "", "")
    assert any(not find_broken_rule(function) for function in functions_of(file, language))


@pytest.mark.parametrize("language", SOURCES)
def test_files_are_told_by_their_ending_and_named_by_path(tmp_path: Path, language: str) -> None:
    for name, text in SOURCES.items():
        (tmp_path / f"m{LANGUAGES[name].endings[0]}").write_text(text)
    items = read_documented_functions(tmp_path, language, Refusals())
    names = [item.source_id for item in items if isinstance(item, Snippet)]
    assert names == [f"m{LANGUAGES[language].endings[0]}::{name}" for name in QUESTIONS[language]]


def test_tokens_of_a_function_alone() -> None:
    assert code_tokens("function twice($a) { return 'a b'; }", "php")[:3] == ["function", "twice", "("]
    assert "'a b'" in code_tokens("function twice($a) { return 'a b'; }", "php")
    assert '"a b"' in code_tokens('func A() string { return "a b" }', "go")
