"""Write a language model of a hundred kilobytes with random weights: `make_tiny_model.py FOLDER`.

It runs in an environment with `transformers`, and says nonsense: it is there to be served.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

LINES = ("def reverse(items):", "    return items[::-1]", '{"explanation": "it does", "verdict": 1}')
CHAT = (
    "{% for turn in messages %}{{ turn['role'] }}: {{ turn['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
CONTEXT = 32_768
"""Tokens: an agent's longest prompt by bytes, which is what this tokenizer nearly counts."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of bytes that knows a few pairs of letters, with a chat template."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(LINES, trainer)
    ends = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=raw, chat_template=CHAT, **ends)  # type: ignore[no-untyped-call]


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """One layer of random weights; it draws its words, so it comes to an end after some hundred tokens."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=CONTEXT,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.do_sample = True
    return model


def main() -> None:
    place = Path(sys.argv[1])
    set_seed(1)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(place)
    make_model(tokenizer).save_pretrained(place)


if __name__ == "__main__":
    main()
