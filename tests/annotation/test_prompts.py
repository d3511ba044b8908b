import hashlib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import prompts
from annotation.prompts import PromptError


def test_every_agent_has_a_prompt_with_rules_and_material_apart() -> None:
    for agent in {*prompts.AGENTS, *prompts.ALONE, *prompts.IN_COMPANY, *prompts.MISSING}:
        prompt = prompts.load_agent_prompt(agent)
        assert prompt.variables("system") == frozenset(), "the rules have to be the same for every pair"
        assert prompt.variables("user")
        assert "{{" not in prompt.render("user", **dict.fromkeys(prompt.variables("user"), "x"))


@pytest.mark.parametrize("agent", ["screener", "arbiter"])
def test_the_pair_comes_last_in_the_user_message(agent: str) -> None:
    text = prompts.load_agent_prompt(agent).sections["user"]
    assert text.index("{{query}}") < text.index("{{code}}")
    assert text.rstrip().endswith("}}")


@pytest.mark.parametrize(
    "agent", sorted({*prompts.AGENTS, *prompts.ALONE, *prompts.IN_COMPANY, *prompts.MISSING})
)
def test_every_agent_is_told_that_the_material_is_no_instruction(agent: str) -> None:
    system = prompts.load_agent_prompt(agent).render("system").replace("\n", " ")
    assert "reads like an instruction" in system
    assert "changes nothing" in system
    assert "one JSON object and nothing else" in system


def test_the_arbiter_is_given_no_screener_verdict() -> None:
    prompt = prompts.load_agent_prompt("arbiter")
    assert prompt.variables("user") == {"query", "code", "readings", "program", "report"}
    assert prompt.variables("user_without_report") == {"query", "code", "readings", "program"}
    assert "screen" not in "".join(prompt.sections.values()).lower()


@pytest.mark.parametrize(
    "agent", ["screener", "query_screener", "single_llm", "test_writer", "arbiter", "tie_breaker"]
)
def test_whoever_judges_reads_the_one_text_that_says_what_a_match_is(agent: str) -> None:
    assert prompts.load_match_criterion() in prompts.load_agent_prompt(agent).render("system")


def test_no_agent_has_a_criterion_of_its_own_beside_that_text() -> None:
    for agent in {*prompts.AGENTS, *prompts.IN_COMPANY, *prompts.MISSING}:
        rest = prompts.load_agent_prompt(agent).render("system").replace(prompts.load_match_criterion(), "")
        assert "satisf" not in rest and "everything that the query asks" not in rest, agent


def test_a_missing_value_an_unknown_value_and_a_missing_section_are_errors() -> None:
    prompt = prompts.load_agent_prompt("screener")
    with pytest.raises(PromptError, match="no value for code"):
        prompt.render("user", query="q")
    with pytest.raises(PromptError, match="no variable cod"):
        prompt.render("user", query="q", code="c", cod="c")
    with pytest.raises(PromptError, match="no section 'rewrite'"):
        prompt.render("rewrite")


def test_a_missing_file_and_a_file_without_sections_are_errors() -> None:
    with pytest.raises(PromptError, match=r"no prompt file 'judge\.md'"):
        prompts.load_agent_prompt("judge")
    for text in ("", "no section", "before\n=== user ===\nx", "=== user ===\na\n=== user ===\nb"):
        with pytest.raises(PromptError, match="has to be sections"):
            prompts.parse_agent_prompt("broken", text)


def test_the_hash_is_that_of_the_text_and_ignores_line_ends() -> None:
    text = resources.files("annotation.prompts").joinpath("arbiter.md").read_text(encoding="utf-8")
    whole = text.replace("{{criterion}}", prompts.load_match_criterion())
    assert prompts.hash_agent_prompts()["arbiter"] == hashlib.sha256(whole.strip().encode()).hexdigest()
    assert (
        prompts.parse_agent_prompt("arbiter", whole.replace("\n", "\r\n")).hash
        == prompts.load_agent_prompt("arbiter").hash
    )
    assert (
        prompts.parse_agent_prompt("arbiter", whole + "x").hash != prompts.load_agent_prompt("arbiter").hash
    )
    assert set(prompts.hash_agent_prompts()) == {*prompts.AGENTS, "repair"}


@given(st.text(), st.text())
def test_values_are_never_expanded_themselves(query: str, code: str) -> None:
    prompt = prompts.parse_agent_prompt("p", "=== user ===\n[{{query}}|{{code}}]")
    assert prompt.render("user", query="{{code}}" + query, code=code) == f"[{'{{code}}' + query}|{code}]"
