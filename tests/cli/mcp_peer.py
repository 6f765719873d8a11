"""The official Python client speaks with `astra mcp`: mcp_peer.py ASTRA FOLDER, for the case of mcp.py. The client
holds every answer against the protocol's types, and structured content against the tools' schemas."""

import asyncio
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ASTRA, FOLDER = sys.argv[1:3]


def server():
    return StdioServerParameters(command=ASTRA, args=["mcp", "--runs", os.path.join(FOLDER, "runs")], cwd=FOLDER,
                                 env=dict(os.environ))


async def judged(client):
    told = []

    async def progress(done, total, words):
        told.append((done, total, words))

    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "profile", {"task": "task"})
        group.start_soon(client.call_tool, "sanitize", {"task": "task"})
        right = await client.call_tool("bench", {"task": "task"}, progress_callback=progress)
    assert not right.is_error and right.structured_content["correct"], right
    assert told and [done for done, _, _ in told] == sorted({done for done, _, _ in told}), told
    bad = await client.call_tool("bench", {"task": "../elsewhere"})
    assert bad.is_error and "--root" in bad.content[0].text, bad


async def ran(client):
    run = (await client.call_tool("optimize_start", {"task": "task", "rounds": 1, "candidates": 1})).structured_content["run"]
    with anyio.move_on_after(0.3) as waiting: # the client cancels the request, and the run goes on
        await client.call_tool("optimize_wait", {"run": run, "seconds": 50})
    assert waiting.cancelled_caught
    state = (await client.call_tool("optimize_status", {"run": run})).structured_content["state"]
    assert state == "running", state
    stopped = await client.call_tool("optimize_cancel", {"run": run})
    assert stopped.structured_content["state"] in ("stopping", "interrupted"), stopped


async def main():
    for mode, revision in (("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")):
        async with Client(stdio_client(server()), mode=mode) as client:
            assert client.protocol_version == revision, client.protocol_version
            tools = await client.list_tools()
            assert len(tools.tools) == 10, tools
            assert all(tool.output_schema and tool.annotations for tool in tools.tools)
            verdicts = (await client.call_tool("explain", {})).structured_content["verdicts"]
            assert len(verdicts) == 13, verdicts
            if mode != "auto":
                await judged(client)
            else:
                await ran(client)


asyncio.run(main())
