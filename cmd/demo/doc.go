// Command demo is `make run`: a real coding agent answers two turns of one
// session, the first asked on the Responses wire and the second on the Agents
// wire, with the events live on the terminal.
//
// It starts a scripted model provider, so no key is needed, and the built
// agenthost on a free port with a state directory of its own below the build
// folder, which it removes. The agent is the pinned Codex CLI; where it cannot be
// installed a stand-in plays it, and the output says so.
//
// With --serve it asks nothing: it leaves the server up until it is interrupted, for
// whoever wants to try the API without a key.
package main
