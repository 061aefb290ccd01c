"""What every case uses: cases, one line each, the model check, refusals."""

import functools
import os
import sys
import threading
import time
import traceback
import typing
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import openai
import pydantic

CASES = []
HERE = os.path.dirname(os.path.abspath(__file__))


def case(run):
    CASES.append(run)
    return run


def main():
    """Runs the cases, several at a time, and prints one line for each."""
    lock = threading.Lock()
    failed = []

    def play(run):
        start = time.monotonic()
        try:
            run()
            line = f"ok {run.__name__} {time.monotonic() - start:.2f}"
        except BaseException as e:  # a case must not end the others
            failed.append(run.__name__)
            at = traceback.extract_tb(e.__traceback__)
            mine = [f for f in at if os.path.dirname(f.filename) == HERE and f.filename != __file__] or list(at)
            why = f"{type(e).__name__}: {e} (line {mine[-1].lineno}: {mine[-1].line})"
            line = f"FAIL {run.__name__}: {' '.join(why.split())[:1500]}"
        with lock:
            print(line, flush=True)

    cases = [c for c in CASES if not sys.argv[1:] or c.__name__ in sys.argv[1:]]
    with ThreadPoolExecutor(int(os.environ.get("ORACLE_WORKERS", "6"))) as pool:
        list(pool.map(play, cases))
    print(f"end {len(cases)}", flush=True)
    sys.exit(1 if failed else 0)


def literals(annotation):
    """The values of a Literal, None for any other type."""
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)
    return None


def faults(value, path="", found=None):
    """What a model that the SDK has built lacks of its own type, all the way down.

    The SDK builds models without validation, so a missing required field is seen
    only when somebody reads it, and an object that fits no member of a union
    becomes the first one: its type word then disagrees with the class.
    """
    found = [] if found is None else found
    if isinstance(value, pydantic.BaseModel):
        kind = type(value)
        for name, field in kind.model_fields.items():
            if field.is_required() and name not in value.model_fields_set:
                found.append(f"{path}.{name} is missing in {kind.__name__}")
                continue
            words = literals(field.annotation)
            got = getattr(value, name, None)
            if words is not None and got not in words and (field.is_required() or got is not None):
                found.append(f"{path}.{name} of {kind.__name__} is {got!r}, not one of {words}")
            faults(got, f"{path}.{name}", found)
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            faults(v, f"{path}[{i}]", found)
    elif isinstance(value, dict):
        for k, v in value.items():
            faults(v, f"{path}.{k}", found)
    return found


def whole(value):
    """The value itself, after the check that its model lacks nothing."""
    missing = faults(value, type(value).__name__)
    assert not missing, missing[:5]
    return value


def eq(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


def has(text, part):
    assert part in (text or ""), f"no {part!r} in {text!r}"


def until(what, limit=20.0):
    """Asks until the answer is true; the only wait of these scripts."""
    end = time.monotonic() + limit
    while True:
        got = what()
        if got:
            return got
        assert time.monotonic() < end, f"not so within {limit} s"
        time.sleep(0.02)


def requests_of(name):
    """How many requests the counting proxy has seen for a case."""
    with urllib.request.urlopen(os.environ["ORACLE_COUNT_URL"] + "/count/" + name, timeout=10) as r:
        return int(r.read())


def counted(name, **options):
    """A client whose requests are counted under a name."""
    return counting().with_options(default_headers={"X-Case": name}, **options)


@functools.cache
def counting():
    return openai.OpenAI(base_url=os.environ["ORACLE_COUNT_URL"] + "/v1")  # one: to make a client is slow


def refused(kind, name, call, code=None, requests=1, **options):
    """The call raises that very class, and the SDK asked that often."""
    try:
        call(counted(name, **options))
    except openai.APIStatusError as e:
        assert type(e) is kind, f"raised {type(e).__name__}: {e}"
        assert e.request_id, "no request id"
        assert e.message and isinstance(e.body, dict), f"no typed body: {e.body!r}"
        assert e.body.keys() >= {"code", "message", "param", "type"} and e.type, e.body
        if code is not None:
            eq(e.code, code)
        eq(requests_of(name), requests)
        return e
    raise AssertionError(f"{name} was not refused")
