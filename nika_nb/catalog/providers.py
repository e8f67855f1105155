"""The 17 model providers: a model is named `<provider>/<name>`, and the prefix says where it runs."""

from __future__ import annotations

from typing import Literal

Kind = Literal["local", "cloud", "test"]

PROVIDERS: dict[str, Kind] = {
    "ollama": "local",
    "lmstudio": "local",
    "llamacpp": "local",
    "localai": "local",
    "vllm": "local",
    "mistral": "cloud",
    "anthropic": "cloud",
    "openai": "cloud",
    "gemini": "cloud",
    "deepseek": "cloud",
    "xai": "cloud",
    "groq": "cloud",
    "openrouter": "cloud",
    "huggingface": "cloud",
    "nvidia": "cloud",
    "moonshot": "cloud",
    "mock": "test",
}

# What the file that NIKA_NB_MOCK names may say.
MOCKED = {
    "error": "how `mock/mock-error` fails: {code, message, transient}, each of which may be left out",
    "streaming": "what `mock/mock-streaming` says: a text, or a list of its pieces",
    "json": "the JSON Schema whose smallest value `mock/mock-json` answers",
    "prices": "what mock models are said to cost: {echo: {input, output}}, in USD per million tokens",
    "delay_ms": "how many milliseconds a reply takes",
}

SERVED = ("mock",)  # those that this version speaks to


def split_model(model: str) -> tuple[str, str]:
    """(provider, name) of a model; ('', model) where there is no prefix. A name may contain `/`."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash else ("", model)


def kind_of(model: str) -> Kind | None:
    """Where a model runs, or None for an unknown provider."""
    return PROVIDERS.get(split_model(model)[0])
