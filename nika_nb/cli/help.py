"""`nika-nb help [TOPIC …]`: the language explained, from the same pages as in a notebook."""

from __future__ import annotations

import argparse

from nika_nb.check.guide.topics import contents, help_on
from nika_nb.runs.vocabulary import tool_words


def help_command(options: argparse.Namespace) -> int:
    """Prints the page of each topic; without one, what can be asked."""
    pages = [str(help_on(topic, tool_words())) for topic in options.topics]
    print("\n\n".join(pages) if pages else contents("nika-nb help"))
    return 0
