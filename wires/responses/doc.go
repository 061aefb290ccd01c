// Package responses speaks the OpenAI Responses wire: it decodes requests, asks
// the engine, and turns events into stream frames and turns into response objects.
//
// A response is a turn. Render is a pure function of events and their views and
// Of one of a turn, and the terminal frame contains Of its turn, so the live
// stream, a replay, a retrieve and a plain create tell the same in the same bytes.
// An event's frames are numbered from its Step, so their number must be
// fold.Steps of it.
//
// No data line is above 8 MiB: a response object keeps the newest output items
// that fit and says so in metadata["agenthost.output_trimmed"].
//
// A conversation is a session: its items are those of its turns and those that were
// posted without one, in one order. Posted items are kept as they came, and with
// each what an agent is told of it; the engine tells the next turn's.
//
// What a request names and this wire cannot do is refused with its parameter's
// name before the engine hears of it; what has no meaning for a coding agent
// (sampling, caching, unknown names) is ignored and listed in the response header
// X-Agent-Sandbox-Ignored-Params.
//
// It imports actors/{event,spec,fold} and wires/{call,apierr,sse}, never the
// engine itself.
package responses
