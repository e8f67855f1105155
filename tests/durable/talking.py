"""Conversations with the MCP server, over standard input and output, by the official client."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.doors import PATIENCE, environment

Talk = Callable[[ClientSession], Awaitable[Any]]


def talked(root: Path, talk: Talk) -> Any:
    """What a conversation with a server of its own came to."""

    async def session() -> Any:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "nika_nb", "mcp"], env=environment(), cwd=root
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()
            with anyio.fail_after(2 * PATIENCE):
                return await talk(client)

    return anyio.run(session)


async def said(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool returned. Fails the test where it was refused."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)
