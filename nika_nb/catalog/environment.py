"""Names of environment variables: the floor that every child gets, and those no child ever gets."""

from __future__ import annotations

# A maximum as well: nothing beyond these reaches a child unless the workflow declares it.
FLOOR = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME")

# Each of these makes the child, or a tool below it, run something that nobody wrote into the
# workflow: a library, a start-up file, a hook.
DANGEROUS = frozenset(
    {
        # what the dynamic linker and libc load
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "LOCPATH",
        # what a shell reads or runs before the line it was given
        "BASHOPTS",
        "BASH_ENV",
        "CDPATH",
        "ENV",
        "FPATH",
        "GLOBIGNORE",
        "IFS",
        "PROMPT_COMMAND",
        "PS4",
        "SHELLOPTS",
        "ZDOTDIR",
        # what an interpreter runs before its program
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "LUA_INIT",
        "NODE_OPTIONS",
        "PERL5DB",
        "PERL5LIB",
        "PERL5OPT",
        "PERLLIB",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "PYTHONBREAKPOINT",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHONSTARTUP",
        "PYTHONUSERBASE",
        "RUBYLIB",
        "RUBYOPT",
        "R_ENVIRON",
        "R_PROFILE",
        "_JAVA_OPTIONS",
        # commands that tools start on their own
        "CARGO_BUILD_RUSTC_WRAPPER",
        "EDITOR",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_EXEC_PATH",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_PROXY_COMMAND",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_TEMPLATE_DIR",
        "LESSCLOSE",
        "LESSOPEN",
        "MAKEFLAGS",
        "MANPAGER",
        "PAGER",
        "RUSTC_WRAPPER",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "VISUAL",
    }
)

DANGEROUS_PREFIXES = ("LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_")


def is_dangerous(name: str) -> bool:
    """Whether a variable can never be passed to a child, whoever asks for it."""
    return name in DANGEROUS or name.startswith(DANGEROUS_PREFIXES)
