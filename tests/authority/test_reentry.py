"""Which words of a command bring it to another program, by the grammar of the program that gets them."""

from __future__ import annotations

import shlex

import pytest

from nika_nb.authority.reentry import reentries

# (the command, the words that are judged: number → what a permit would have to list)
CASES: list[tuple[str, dict[int, str]]] = [
    ("python3 '-cimport os'", {1: "-c"}),
    ("python3.11 -Icimport", {1: "-c"}),
    ("python3 -u -W ignore -cx", {4: "-c"}),
    ("python3 -mhttp.server", {1: "-m"}),
    ("python3 -m this -c x", {1: "-m", 2: "-m", 3: "-c"}),
    ("python3 -c code -cx", {1: "-c", 2: "-c"}),
    ("python3 tool.py -cx", {}),
    ("python3 -Wcode tool.py", {}),
    ("python3 -- -cx", {}),
    ("sh -ec 'touch x'", {1: "-c", 2: "-c"}),
    ("/bin/sh -lc x", {1: "-c", 2: "-c"}),
    ("bash -oc pipefail x", {1: "-c", 2: "-c", 3: "-c"}),
    ("bash -o pipefail -ec x y", {3: "-c", 4: "-c"}),
    ("sh -c -x x y", {1: "-c", 2: "-c", 3: "-c"}),
    ("bash --norc -ec x", {2: "-c", 3: "-c"}),
    ("sh -c 'echo \"$1\"' sh -ec", {1: "-c", 2: "-c"}),
    ("sh run.sh -ec", {}),
    ("perl -ne x", {1: "-e", 2: "-e"}),
    ("perl -esystem", {1: "-e"}),
    ("perl -e code -ecode", {1: "-e", 2: "-e", 3: "-e"}),
    ("perl -i.bake -Iex tool.pl", {}),
    ("perl -MPOSIX", {1: "-M"}),
    ("ruby -rsocket", {1: "-r"}),
    ("node -pe x", {1: "-p", 2: "-p"}),
    ("node --title t -ex", {3: "-e"}),
    ("node --eval=x", {1: "--eval"}),
    ("php -rcode", {1: "-r"}),
    ("lua5.4 -lx", {1: "-l"}),
    ("fish -Cx", {1: "-C"}),
    ("pwsh -NoProfile -enc x y", {2: "-c", 3: "-c", 4: "-c"}),
    ("env sh -ec x", {1: "sh", 2: "-c", 3: "-c"}),
    ("env -i '-Ssh -c x'", {2: "-S"}),
    ("env LD_PRELOAD=x.so date", {1: "LD_PRELOAD", 2: "date"}),
    ("timeout 5 ./tool", {2: "./tool"}),
    ("xargs -d , sh -ec x", {2: ",", 3: "sh", 4: "-c", 5: "-c"}),
    ("nice -n 5 timeout 3 python3 -cx", {3: "timeout", 5: "python3", 6: "-c"}),
    ("find . -exec sh -ec x ;", {2: "-exec", 3: "sh", 4: "-c", 5: "-c"}),
    ("find . -name x", {}),
    ("tar -xf a.tar -Ish", {3: "-I"}),
    ("tar -xf a.tar --checkpoint-act=exec=sh", {3: "--checkpoint-action"}),
    ("tar -xf a.tar --to-command sh", {3: "--to-command", 4: "--to-command"}),
    ("rsync a b '-esh -c x'", {3: "-e"}),
    ("ssh -oProxyCommand=sh host", {1: "ProxyCommand"}),
    ("ssh -o proxycommand=sh host", {2: "proxycommand"}),
    ("wc -c file", {1: "-c"}),
    ("grep -e pattern file", {1: "-e"}),
    ("echo --color=auto -verbose -count", {}),
]


@pytest.mark.parametrize(("command", "expected"), CASES, ids=[command for command, _ in CASES])
def test_the_words_that_start_a_program(command: str, expected: dict[int, str]) -> None:
    """Fused and clustered flags, the text behind them, and the commands of carriers; data is left alone."""
    argv = shlex.split(command)
    found: dict[int, str] = {}
    for one in reentries(argv):
        found.setdefault(
            one.number, one.token.rpartition("/")[2] if "/" not in argv[one.number] else one.token
        )
    assert found == {number: token.rpartition("/")[2] for number, token in expected.items()}


def test_carriers_in_carriers_are_each_looked_at_once() -> None:
    """Thousands of them neither go deep nor multiply."""
    argv = ["env"] * 3000 + ["sh", "-ec", "x"]
    found = [(one.number, one.token) for one in reentries(argv)]
    assert len(found) == len(set(found)) == 3002
    assert {(3000, "sh"), (3001, "-c"), (3002, "-c")} <= set(found)
