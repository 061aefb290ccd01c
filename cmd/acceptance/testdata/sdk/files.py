"""Files with the official Python SDK, unchanged, against a running server.

Prints what check.py describes, like oracle.py. OPENAI_BASE_URL and OPENAI_API_KEY
say where and who; OTHER_API_KEY is the token of another principal.
"""

import io
import os
import pathlib
import tempfile

import openai
from check import case, eq, has, main, whole
from openai import AsyncOpenAI, OpenAI

strict = OpenAI(_strict_response_validation=True)  # raises on what the types do not allow
files = strict.files
other = OpenAI(api_key=os.environ["OTHER_API_KEY"]).files


def refused(kind, code, call):
    try:
        call()
    except kind as e:
        eq(e.code, code)
        return e
    raise AssertionError("was not refused")


@case
def create_retrieve_content_delete():
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
    refused(openai.NotFoundError, "file_not_found", lambda: files.retrieve(made.id))
    refused(openai.NotFoundError, "file_not_found", lambda: files.content(made.id))
    refused(openai.NotFoundError, "file_not_found", lambda: files.delete(made.id))


@case
def every_form_of_a_file():
    for file in (b"bytes", io.BytesIO(b"bytes"), ("n.bin", b"bytes"), ("n.bin", io.BytesIO(b"bytes"), "image/png")):
        made = whole(files.create(file=file, purpose="vision"))
        eq((made.bytes, files.content(made.id).read()), (5, b"bytes"))


@case
def every_byte_comes_back():
    content = bytes(range(256)) * 4000 + b"\r\n--boundary--\r\n"
    made = files.create(file=("all.bin", content), purpose="assistants")
    eq(made.bytes, len(content))
    eq(files.content(made.id).read(), content)
    with files.with_streaming_response.content(made.id) as r:
        eq(b"".join(r.iter_bytes(1000)), content)
    part = strict.files.with_raw_response.content(made.id, extra_headers={"Range": "bytes=256-511"})
    eq((part.http_response.status_code, part.content), (206, bytes(range(256))))


@case
def names_are_only_shown():
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
def lists_turn_their_pages():
    made = [files.create(file=(f"{i}.txt", b"x"), purpose="batch").id for i in range(25)]
    seen = [whole(f).id for f in files.list(purpose="batch", limit=10)]
    eq(seen, made[::-1])
    eq([f.id for f in files.list(purpose="batch", order="asc", limit=10_000)], made)
    eq([f.id for f in files.list(purpose="batch", order="asc", after=made[22])], made[23:])
    refused(openai.BadRequestError, "invalid_request", lambda: files.list(limit=0))


@case
def another_principal_sees_nothing():
    made = files.create(file=("secret.txt", b"secret"), purpose="user_data")
    eq([f.id for f in other.list() if f.id == made.id], [])
    for call in (other.retrieve, other.content, other.delete):
        refused(openai.NotFoundError, "file_not_found", lambda: call(made.id))
    eq(files.content(made.id).read(), b"secret")


@case
def what_is_too_much_is_refused():
    e = refused(openai.APIStatusError, "agents.file_too_large", lambda: files.create(file=("big", b"x" * (1 << 20) + b"x"), purpose="user_data"))
    eq((e.status_code, e.response.headers.get("x-should-retry")), (413, None))
    e = refused(openai.APIStatusError, "request_too_large", lambda: files.create(file=("big", b"x" * (3 << 20)), purpose="user_data"))
    eq(e.status_code, 413)
    refused(openai.BadRequestError, "invalid_request", lambda: files.create(file=("x", b"x"), purpose="party"))
    refused(openai.BadRequestError, "agents.unsupported", lambda: files.create(file=("x", b"x"), purpose="batch", expires_after={"anchor": "created_at", "seconds": 3600}))


@case
def a_text_file_is_read_by_the_agent():
    made = files.create(file=("task.txt", b"the scripted word is: heron\n"), purpose="user_data")
    r = strict.responses.create(model="codex", input=[{"role": "user", "content": [
        {"type": "input_text", "text": "read this"}, {"type": "input_file", "file_id": made.id}]}])
    has(r.output_text, "--- file: task.txt ---\nthe scripted word is: heron")
    e = refused(openai.NotFoundError, "file_not_found", lambda: OpenAI(api_key=os.environ["OTHER_API_KEY"]).responses.create(
        model="codex", input=[{"role": "user", "content": [{"type": "input_file", "file_id": made.id}]}]))
    eq(e.param, "input[0].content[0]")


@case
def asynchronously():
    import asyncio

    async def story():
        async with AsyncOpenAI() as client:
            made = whole(await client.files.create(file=b"async", purpose="user_data"))
            eq((await client.files.content(made.id)).read(), b"async")
            eq((await client.files.delete(made.id)).deleted, True)

    asyncio.run(story())


if __name__ == "__main__":
    main()
