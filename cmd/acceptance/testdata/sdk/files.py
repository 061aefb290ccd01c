"""Files with the official Python SDK, unchanged. A part of oracle.py."""

import asyncio
import io
import os
import pathlib
import tempfile

import openai
from check import case, eq, has, refused, whole
from openai import AsyncOpenAI, OpenAI

strict = OpenAI(_strict_response_validation=True)  # raises on what the types do not allow
files = strict.files
other = OpenAI(api_key=os.environ["OTHER_API_KEY"]).files


@case
def files_create_retrieve_content_delete():
    with tempfile.TemporaryDirectory() as d:
        path = pathlib.Path(d, "notes.txt")
        path.write_bytes(b"line 1\nline 2\n")
        with path.open("rb") as f:
            made = whole(files.create(file=f, purpose="user_data"))
        eq((made.filename, whole(files.create(file=path, purpose="user_data")).filename), ("notes.txt", "notes.txt"))
    eq((made.bytes, made.purpose, made.status, made.expires_at), (14, "user_data", "processed", None))
    eq(whole(files.retrieve(made.id)), made)
    eq(files.content(made.id).read(), b"line 1\nline 2\n")
    with tempfile.TemporaryDirectory() as d:
        files.content(made.id).write_to_file(os.path.join(d, "x"))
        eq(os.path.getsize(os.path.join(d, "x")), 14)
    eq(whole(files.wait_for_processing(made.id, poll_interval=0.01)).id, made.id)
    eq(whole(files.delete(made.id)).deleted, True)
    refused(openai.NotFoundError, "file_gone", lambda c: c.files.retrieve(made.id), "file_not_found")
    refused(openai.NotFoundError, "file_content_gone", lambda c: c.files.content(made.id), "file_not_found")
    refused(openai.NotFoundError, "file_gone_twice", lambda c: c.files.delete(made.id), "file_not_found")


@case
def files_every_form():
    for file in (b"bytes", io.BytesIO(b"bytes"), ("n.bin", b"bytes"), ("n.bin", io.BytesIO(b"bytes"), "image/png")):
        made = whole(files.create(file=file, purpose="vision"))
        eq((made.bytes, files.content(made.id).read()), (5, b"bytes"))


@case
def files_every_byte_comes_back():
    content = bytes(range(256)) * 4000 + b"\r\n--boundary--\r\n"
    made = files.create(file=("all.bin", content), purpose="assistants")
    eq(made.bytes, len(content))
    eq(files.content(made.id).read(), content)
    with files.with_streaming_response.content(made.id) as r:
        eq(b"".join(r.iter_bytes(1000)), content)
    part = strict.files.with_raw_response.content(made.id, extra_headers={"Range": "bytes=256-511"})
    eq((part.http_response.status_code, part.content), (206, bytes(range(256))))


@case
def files_names_are_only_shown():
    # The SDK itself writes a quote as %22, as browsers do.
    for name, kept in (("../../etc/passwd", "passwd"), ('say "hi".txt', "say %22hi%22.txt"), ("a\r\nX-Evil: 1", None), ("nul\0byte", None), ("übung.txt", "übung.txt")):
        made = whole(files.create(file=(name, b"x"), purpose="user_data"))
        assert "/" not in made.filename and "\n" not in made.filename and "\0" not in made.filename, made.filename
        if kept:
            eq(made.filename, kept)
        r = files.content(made.id).response
        assert "x-evil" not in r.headers, r.headers
        has(r.headers["content-disposition"], "attachment; filename=")


@case
def files_lists_turn_their_pages():
    made = [files.create(file=(f"{i}.txt", b"x"), purpose="batch").id for i in range(5)]
    mine = lambda page: [whole(f).id for f in page if f.id in made]  # noqa: E731  other judges upload as well
    eq(mine(files.list(purpose="batch", limit=2)), made[::-1])
    eq(mine(files.list(purpose="batch", order="asc", limit=10_000)), made)
    eq(mine(files.list(purpose="batch", order="asc", after=made[2])), made[3:])
    refused(openai.BadRequestError, "files_limit", lambda c: c.files.list(limit=0), "invalid_request")


@case
def files_another_principal_sees_nothing():
    made = files.create(file=("secret.txt", b"secret"), purpose="user_data")
    eq([f.id for f in other.list() if f.id == made.id], [])
    for name in ("retrieve", "content", "delete"):
        refused(openai.NotFoundError, "foreign_" + name, lambda c: getattr(c.files, name)(made.id), "file_not_found", api_key=os.environ["OTHER_API_KEY"])
    eq(files.content(made.id).read(), b"secret")


@case
def files_too_much_is_refused():
    e = refused(openai.APIStatusError, "large_file", lambda c: c.files.create(file=("big", b"x" * (1 << 20) + b"x"), purpose="user_data"), "agents.file_too_large")
    eq((e.status_code, e.response.headers.get("x-should-retry")), (413, None))
    refused(openai.BadRequestError, "odd_purpose", lambda c: c.files.create(file=("x", b"x"), purpose="party"), "invalid_request")
    refused(openai.BadRequestError, "expiring", lambda c: c.files.create(file=("x", b"x"), purpose="batch", expires_after={"anchor": "created_at", "seconds": 3600}), "agents.unsupported")


@case
def files_text_is_read_by_the_agent():
    made = files.create(file=("task.txt", b"the scripted word is: heron\n"), purpose="user_data")
    r = strict.responses.create(model="codex", input=[{"role": "user", "content": [
        {"type": "input_text", "text": "read this"}, {"type": "input_file", "file_id": made.id}]}])
    has(r.output_text, "--- file: task.txt ---\nthe scripted word is: heron")
    e = refused(openai.NotFoundError, "foreign_input", lambda c: c.responses.create(
        model="codex", input=[{"role": "user", "content": [{"type": "input_file", "file_id": made.id}]}]), "file_not_found", api_key=os.environ["OTHER_API_KEY"])
    eq(e.param, "input[0].content[0]")


@case
def files_asynchronously():
    async def story():
        async with AsyncOpenAI() as client:
            made = whole(await client.files.create(file=b"async", purpose="user_data"))
            eq((await client.files.content(made.id)).read(), b"async")
            eq((await client.files.delete(made.id)).deleted, True)

    asyncio.run(story())
