"""Reads a response's stream; prints "reading" at its first text and then how it ended.

After an error it reads a line, the address of the server's next run, and reads on
behind the last event that it has.
"""

from openai import OpenAI

last = None
try:
    for event in OpenAI().responses.create(model="claude-code", input="[[events: 3000 40 20]]", stream=True, background=True):
        id = event.response.id if last is None else id
        last = event.sequence_number
        if event.type == "response.output_text.delta":
            print("reading", flush=True)
    print("ended")
except Exception as e:
    print("raised", type(e).__name__, e, flush=True)
    client = OpenAI(base_url=input() + "/v1")
    rest = list(client.responses.retrieve(id, stream=True, starting_after=last))
    assert [e.sequence_number for e in rest] == list(range(last + 1, last + 1 + len(rest))), [e.sequence_number for e in rest]
    end = rest[-1]
    assert end.response == client.responses.retrieve(id), end
    print("resumed", end.type, end.response.error.type)
