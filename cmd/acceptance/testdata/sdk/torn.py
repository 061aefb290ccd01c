"""Reads a response's stream; prints "reading" at its first text and then how it ended."""

from openai import OpenAI

try:
    for event in OpenAI().responses.create(model="claude-code", input="[[events: 3000 40 20]]", stream=True):
        if event.type == "response.output_text.delta":
            print("reading", flush=True)
    print("ended")
except Exception as e:
    print("raised", type(e).__name__, e)
