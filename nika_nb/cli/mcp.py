"""`nika-nb mcp`: durable runs for an MCP client."""

from __future__ import annotations

import argparse

from nika_nb.cli.meant import folder
from nika_nb.doors import install
from nika_nb.errors import UsageError


def serve(options: argparse.Namespace) -> int:
    """Serves over standard input and output until the client goes away."""
    try:
        import mcp.server.mcpserver  # noqa: F401 - only to know whether it is there
    except ImportError:
        raise UsageError(f"`nika-nb mcp` needs the MCP SDK: {install('mcp>=2.3,<3')}") from None
    from nika_nb.server.mcp import serve as serve_runs

    serve_runs(folder(options.root).resolve())
    return 0
