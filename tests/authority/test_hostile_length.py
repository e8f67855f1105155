"""No text makes a judge or a mask go back and forth: what is long is looked through, not searched anew.

Each of these took minutes to years where time grew faster than the text; the limit only ends a hang.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

LIMIT = 120.0  # seconds
TEXTS = {
    "backslashes in a coded secret": (
        "from nika_nb.authority.masking import MASK, Masker\n"
        "m = Masker(); m.add('s', 'topsecretvalue'); h = 'topsecretvalue'.encode().hex()\n"
        "text = h[0] + '\\\\' * 200_000 + '!' + h\n"
        "assert m.mask_text(text) == text.replace(h, MASK)\n"
        "n = 'nnnnnnnnnn'; m.add('t', n); q = n.encode().hex()\n"
        "import base64; b = base64.b64encode(b'\\x9e\\x79\\xe7' * 8).decode(); m.add('u', 'rnrnrnrnrnrn')\n"
        "m.mask_text(('\\\\n' * 100_000) + b + h[:9] + ('\\\\n' * 100_000))\n"
        "m.mask_text('\\x1b[' * 100_000 + '0' * 100_000)\n"
    ),
    "quotes in a secret's settings": (
        "from nika_nb.authority.parts import parts\n"
        "assert list(parts('key=' + '\"' * 900_000 + 'x')) == ['\"' * 899_999 + 'x']\n"
    ),
    "a long word": "judge('echo ' + 'a' * 120_000 + ' | wc -c')",
    "names before brackets": "judge('a' * 300_000 + '(){' * 100_000)",
    "bombs that are none": "judge('x (){a|a&}' * 100_000)",
    "shells in a row": "judge('sh ' * 200_000)",
    "brackets": "judge('(' * 300_000)",
    "fetchers without a shell": "judge('$(curl ' * 50_000)",
    "evals in a row": "assert judge('eval ' * 50_000)",
    "evals around a line of evals": "judge('eval ' * 40 + '$(' + 'eval env ' * 40 + 'x' * 100_000 + ')')",
    "redirections": "judge('echo ' + '>' * 100_000 + 'x')",
    "a mode": "judge('chmod a+' + 'w' * 200_000 + '! x')",
    "a flag": "judge('sh -' + 'c' * 200_000 + '1')",
    "carriers in a row": "assert argv(['env'] * 100_000)",
    "finds in a row": "argv(['find'] + ['-exec'] * 100_000)",
    "finds within finds": "argv(['find', '-exec'] * 50_000)",
    "stars in a path": (
        "from nika_nb.authority.globs import matches\n"
        "for piece in ('*', '**', '**/', '/**', '*a', '**a', '/**/a', '?*', '[ab]*'):\n"
        "    assert not matches((piece * 4_000 + 'x',), 'a/' * 8_000)\n"
        "    assert not matches((piece * 12 + 'x',), 'a' * 8_000)\n"
        "assert matches(('*a' * 4_000,), 'a' * 8_000)\n"
        "assert matches(('**/' * 4_000 + 'a',), 'a/' * 8_000 + 'a')\n"
    ),
    "a duration": "from nika_nb.values import duration_ms\nassert duration_ms('1' * 1_000_000) is None",
    "backslashes in a workflow": (
        "from nika_nb.errors import Source\nfrom nika_nb.language import load\n"
        "load(Source('nika: w\\nconst: {c: \"' + '\\\\\\\\' * 300_000 + '${{ inputs.x }}\"}\\ntasks: {}\\n'))"
    ),
    "islands in a line": (
        "from nika_nb.language.shellwords import words_of\nassert words_of('${{ inputs.a }} ' * 60_000) == []"
    ),
    "blanks behind a key": (
        "from nika_nb.check.editing.outline import _KEY\nassert not _KEY.match('a' + ' ' * 300_000 + '!')"
    ),
}
HEAD = "from nika_nb.authority.blocklist import judge_argv as argv, judge_shell as judge\n"


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_is_looked_through(name: str) -> None:
    """In a process of its own, which a hang would keep."""
    subprocess.run([sys.executable, "-c", HEAD + TEXTS[name]], timeout=LIMIT, check=True)
