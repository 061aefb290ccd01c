"""Artifacts of sessions with the official Python SDK, unchanged, on the real Codex.

Prints what check.py describes, like oracle.py. OPENAI_BASE_URL and OPENAI_API_KEY
say where and who; OTHER_API_KEY is the token of another principal. What the model
does is scripted: see the directives in fakes/mind.
"""

import asyncio
import hashlib
import os
import pathlib
import tempfile

import openai
from check import case, eq, has, main, whole
from openai import AsyncOpenAI, OpenAI

strict = OpenAI(_strict_response_validation=True)  # raises on what the types do not allow
sessions = strict.beta.agents.sessions
artifacts = sessions.artifacts
other = OpenAI(api_key=os.environ["OTHER_API_KEY"]).beta.agents.sessions.artifacts
REPORT = "/workspace/outputs/report.txt"


def refused(kind, code, call):
    try:
        call()
    except kind as e:
        eq((e.code, e.status_code), (code, 404))
        return str(e)
    raise AssertionError("was not refused")


def session():
    return sessions.create(environment={"type": "self_hosted"}, agent={"model": "codex"}).id


def turn(id, prompt):
    """A turn's result. At its end, as a stream shows it, its artifacts are there."""
    with sessions.stream(id, input=prompt) as stream:
        for e in stream.with_result_collection():
            if e.type == "agent.session.turn.completed":
                seen = {a.id for a in artifacts.list(id) if a.turn_id == e.turn_id}
        result = stream.get_final_result()
    eq(seen, {a.id for a in artifacts.list(id) if a.turn_id == result.turn_id})
    return result


@case
def a_report_is_listed_read_and_deleted():
    id = session()
    result = turn(id, "[[shell: mkdir -p outputs && printf 'the report' > outputs/report.txt]]")
    (made,) = [whole(a) for a in artifacts.list(id)]
    eq((made.path, made.size_bytes, made.session_id, made.turn_id), (REPORT, 10, id, result.turn_id))
    assert made.id.startswith("art_") and made.environment_id.startswith("env_") and made.created_at > 1_700_000_000, made
    eq(whole(artifacts.retrieve(made.id, session_id=id)), made)
    eq(artifacts.content(made.id, session_id=id).read(), b"the report")
    mine = artifacts.for_result(result)
    eq(mine.content(REPORT).read(), b"the report")
    with tempfile.TemporaryDirectory() as d:
        to = pathlib.Path(d, "got.txt")
        eq(mine.download(REPORT, to=to).id, made.id)
        eq(to.read_bytes(), b"the report")
    gone = whole(artifacts.delete(made.id, session_id=id))
    eq((gone.id, gone.deleted), (made.id, True))
    for call in (artifacts.retrieve, artifacts.content, artifacts.delete):
        refused(openai.NotFoundError, "artifact_not_found", lambda: call(made.id, session_id=id))
    eq(list(artifacts.list(id)), [])


@case
def a_file_that_codex_reports_is_published():
    id = session()
    result = turn(id, "[[write: src/notes.txt some text]]")
    eq([whole(a).path for a in artifacts.list(id)], ["/workspace/src/notes.txt"])
    eq(artifacts.for_result(result).content("/workspace/src/notes.txt").read().strip(), b"some text")


@case
def each_turn_publishes_its_own_version():
    id = session()
    one = turn(id, "[[shell: mkdir -p outputs && printf one > outputs/report.txt]]")
    none = turn(id, "[[shell: cat outputs/report.txt]]")
    two = turn(id, "[[shell: printf two > outputs/report.txt]]")
    eq([a.turn_id for a in artifacts.list(id, order="asc")], [one.turn_id, two.turn_id])
    eq([artifacts.for_result(r).content(REPORT).read() for r in (one, two)], [b"one", b"two"])
    try:
        artifacts.for_result(none).content(REPORT)
    except ValueError:
        return
    raise AssertionError("a turn that wrote nothing has published something")


@case
def lists_turn_their_pages():
    id = session()
    turn(id, "[[shell: mkdir -p outputs/d && for i in 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34; do echo $i > outputs/d/$i; done]]")
    up = [whole(a).id for a in artifacts.list(id, order="asc", limit=10)]
    eq(len(set(up)), 25)
    eq([a.id for a in artifacts.list(id)], up[::-1])
    eq([a.id for a in artifacts.list(id, order="asc", after=up[22])], up[23:])
    env = artifacts.retrieve(up[0], session_id=id).environment_id
    eq([a.id for a in artifacts.list(id, order="asc", environment_id=env, limit=7)], up)
    eq(list(artifacts.list(id, environment_id="env_" + "0" * 31 + "1")), [])
    eq(len(list(artifacts.list(id, environment_id=None))), 25)


@case
def parts_and_conditions():
    id = session()
    turn(id, "[[shell: mkdir -p outputs && printf 0123456789 > outputs/digits]]")
    (made,) = artifacts.list(id)
    raw = artifacts.with_raw_response
    first = raw.content(made.id, session_id=id).http_response
    eq(first.headers["etag"], '"' + hashlib.sha256(b"0123456789").hexdigest() + '"')
    eq(first.headers["content-type"], "application/octet-stream")
    has(first.headers["content-disposition"], 'attachment; filename="digits"')
    part = raw.content(made.id, session_id=id, extra_headers={"Range": "bytes=2-4"}).http_response
    eq((part.status_code, part.headers["content-range"], part.content), (206, "bytes 2-4/10", b"234"))
    try:
        raw.content(made.id, session_id=id, extra_headers={"If-None-Match": first.headers["etag"]})
    except openai.APIStatusError as e:  # the SDK takes 304 for no success
        eq(e.status_code, 304)
    with artifacts.with_streaming_response.content(made.id, session_id=id) as r:
        eq(b"".join(r.iter_bytes(3)), b"0123456789")


@case
def links_are_not_followed():
    id = session()
    turn(id, "[[shell: mkdir -p outputs && ln -s /etc/passwd outputs/passwd && ln -s /etc outputs/etc && mkfifo outputs/pipe && echo fine > outputs/fine]]")
    eq([a.path for a in artifacts.list(id)], ["/workspace/outputs/fine"])


@case
def another_principal_sees_nothing():
    id = session()
    turn(id, "[[shell: mkdir -p outputs && printf secret > outputs/report.txt]]")
    (made,) = artifacts.list(id)
    zero = "agsess_" + "0" * 32
    for call in (other.retrieve, other.content, other.delete):
        said = refused(openai.NotFoundError, "session_not_found", lambda: call(made.id, session_id=id))
        eq(said.replace(id, zero), refused(openai.NotFoundError, "session_not_found", lambda: call(made.id, session_id=zero)))
    refused(openai.NotFoundError, "session_not_found", lambda: list(other.list(id)))
    elsewhere = session()
    refused(openai.NotFoundError, "artifact_not_found", lambda: artifacts.retrieve(made.id, session_id=elsewhere))
    eq(artifacts.content(made.id, session_id=id).read(), b"secret")


@case
def they_go_with_their_session():
    id = session()
    turn(id, "[[shell: mkdir -p outputs && printf x > outputs/report.txt]]")
    (made,) = artifacts.list(id)
    sessions.delete(id)
    refused(openai.NotFoundError, "session_not_found", lambda: artifacts.content(made.id, session_id=id))


@case
def asynchronously():
    async def story():
        async with AsyncOpenAI(_strict_response_validation=True) as c:
            mine = c.beta.agents.sessions
            s = await mine.create(environment={"type": "self_hosted"}, agent={"model": "codex"})
            async with mine.stream(s.id, input="[[shell: mkdir -p outputs && printf async > outputs/report.txt]]") as stream:
                result = await stream.get_final_result()
            eq((await mine.artifacts.for_result(result).content(REPORT)).read(), b"async")
            made = [whole(a) async for a in mine.artifacts.list(s.id)]
            eq((await mine.artifacts.delete(made[0].id, session_id=s.id)).deleted, True)

    asyncio.run(story())


if __name__ == "__main__":
    main()
