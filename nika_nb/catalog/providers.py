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
    "prices": "what the mock models cost, by name: {echo: {input, output}}, in USD per million tokens",
    "delay_ms": "how many milliseconds a reply takes",
}

SERVED = ("mock",)  # those that this version speaks to

# All that `mock` has, and what each does. Every other provider's models are its own, and come and go.
MOCKS = {
    "mock/echo": "stands in for any model and costs nothing: it says the prompt again",
    "mock/mock-deterministic": "the same by a longer name",
    "mock/mock-json": "the smallest value of the schema under `json` in NIKA_NB_MOCK",
    "mock/mock-streaming": "the text under `streaming` in NIKA_NB_MOCK, piece by piece",
    "mock/mock-error": "fails, as `error` in NIKA_NB_MOCK says",
}


def split_model(model: str) -> tuple[str, str]:
    """(provider, name) of a model; ('', model) where there is no prefix. A name may contain `/`."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash else ("", model)


def kind_of(model: str) -> Kind | None:
    """Where a model runs, or None for an unknown provider."""
    return PROVIDERS.get(split_model(model)[0])


def is_no_mock(model: str) -> bool:
    """Whether a model is named as one of the mock provider, which has no such model."""
    provider, name = split_model(model)
    return provider == "mock" and bool(name) and model not in MOCKS
