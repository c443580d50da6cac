"""The same weights under the names of Hugging Face's Llama, and its ``generate`` on them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from engine.model.config import ModelConfig
from engine.model.transformer import Transformer
from engine.requests import Request, prompt_bytes

PADDING = 0  # the NUL byte; texts never hold it, and it is masked
PLAIN_NAMES = {
    "embedding": "model.embed_tokens",
    "norm": "model.norm",
    "head": "lm_head",
    "attention_norm": "input_layernorm",
    "attention.output": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "mlp.down": "mlp.down_proj",
}


def llama_shape(config: ModelConfig) -> dict[str, Any]:
    """The arguments of transformers' ``LlamaConfig`` for a model of shape ``config``."""
    return {
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "intermediate_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.query_heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.context,
        "rms_norm_eps": config.norm_epsilon,
        # one of the two is read, by transformers 4 and 5
        "rope_theta": config.rope_base,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_base},
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": PADDING,
    }


def llama_weights(model: Transformer) -> dict[str, Tensor]:
    """The parameters of ``model`` by the names of ``LlamaForCausalLM``; the joined matrices are cut."""
    found: dict[str, Tensor] = {}
    for name, weight in model.state_dict().items():
        prefix, part = _place(name.removesuffix(".weight"))
        for llama_name, piece in _pieces(part, weight, model.config).items():
            found[f"{prefix}{llama_name}.weight"] = piece
    return found


def _place(name: str) -> tuple[str, str]:
    """``blocks.3.mlp.down`` as (``model.layers.3.``, ``mlp.down``); without a prefix outside the blocks."""
    if not name.startswith("blocks."):
        return "", name
    _, layer, part = name.split(".", 2)
    return f"model.layers.{layer}.", part


def _pieces(part: str, weight: Tensor, config: ModelConfig) -> dict[str, Tensor]:
    """The weight ``part`` as Llama's weights, by name."""
    if part == "attention.qkv":
        cut = torch.split(weight, [config.query_width, config.kv_width, config.kv_width])
        return {f"self_attn.{letter}_proj": piece for letter, piece in zip("qkv", cut, strict=True)}
    if part == "mlp.gate_up":
        return dict(zip(("mlp.gate_proj", "mlp.up_proj"), weight.chunk(2), strict=True))
    return {PLAIN_NAMES[part]: weight}


class Llama:
    """``LlamaForCausalLM`` with the weights of ``model``, made from its shape alone: nothing is fetched.

    Raises ImportError when transformers is not installed.
    """

    def __init__(self, model: Transformer) -> None:
        self.library: Any = importlib.import_module("transformers")
        self.library.utils.logging.set_verbosity_error()
        shape = self.library.LlamaConfig(**llama_shape(model.config))
        self.model = self.library.LlamaForCausalLM(shape).eval()
        self.model.load_state_dict(llama_weights(model))

    @property
    def version(self) -> str:
        """Of transformers."""
        return str(self.library.__version__)

    def generate(self, requests: Sequence[Request]) -> dict[str, list[int]]:
        """Greedy outputs by id, one padded batch for all: it runs until the longest output is done."""
        prompts = [prompt_bytes(request.prompt or "") for request in requests]
        longest = max(map(len, prompts))
        rows = [[PADDING] * (longest - len(prompt)) + [*prompt] for prompt in prompts]
        mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        output = self.model.generate(
            torch.tensor(rows),
            attention_mask=torch.tensor(mask),
            max_new_tokens=max(request.output_tokens for request in requests),
            do_sample=False,
        )
        new = output[:, longest:].tolist()
        return {r.id: tokens[: r.output_tokens] for r, tokens in zip(requests, new, strict=True)}

    def serve(self, requests: Sequence[Request], batch: int) -> dict[str, list[int]]:
        """Outputs by id, ``batch`` requests at a time in their order."""
        found: dict[str, list[int]] = {}
        for first in range(0, len(requests), batch):
            found.update(self.generate(requests[first : first + batch]))
        return found
