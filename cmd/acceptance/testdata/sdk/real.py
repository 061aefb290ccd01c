"""The official Python SDK, unchanged, where the agents are the real CLIs.

Prints what check.py describes, like oracle.py. OPENAI_BASE_URL and OPENAI_API_KEY
say where and who; OTHER_API_KEY is the token of another principal. What the model
does is scripted: see the directives in fakes/mind.
"""

import os

import artifacts  # noqa: F401  its cases
import handlers  # noqa: F401
from check import main

if "claude-code" in os.environ["ORACLE_CLIS"]:
    import subagents  # noqa: F401

if __name__ == "__main__":
    main()
