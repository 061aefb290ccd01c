// Package agents is the OpenAI Agents beta wire (agents=v1): it decodes
// requests, calls the engine, and says what the engine did in that wire's
// objects and server-sent events. One file a resource.
//
// Render is the event half and pure: the frames of an event are a function of
// the event and its view alone, so live, replayed and restarted streams give the
// same bytes, however the events were batched. A frame's event_id is also the
// cursor to resume behind it (Cursor).
//
// What a caller may send: fields of agents and of a session's `agent` are a
// closed set, an unknown one is refused with the nearest known name; unknown
// top-level fields of a session's creation are left alone, so a newer SDK keeps
// working, and named in the X-Agent-Sandbox-Ignored-Params header. What the host
// cannot do is refused by the name of its field before anything is stored.
//
// It imports actors/{event,spec,fold} and its sibling wires packages, never an
// adapter, the engine or the server. It keeps no state.
package agents
