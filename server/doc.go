// Package server is the HTTP surface: one fasthttp server, one table of routes,
// and what holds for every request before a wire sees it.
//
// The order is: route (404, 405), who asks (401), is the group served (404
// endpoint_disabled), may the principal (403), is the operation built (501), then
// the body (413, 415), then the wire's handler. Every answer has a JSON body in
// the one error envelope and an x-request-id of ours.
//
// Who asks is decided once, when the request comes in: tokens may change meanwhile
// (Rekey), and what runs goes on as who it came in. An address that sends many wrong
// tokens waits (guesses). The wires see the engine through sight, the one place that
// lets a caller reach what is another's: an admin everybody's, a group its shared
// sessions. What was made, changed, refused or reached of another's is written into
// the book that server/audit keeps.
//
// It owns connections, credentials, limits of requests, probes, metrics and the
// refusal of new requests while the host stops. It does not own turns or events:
// wires render those, the actors make them. Event streams run on the sse.Hub
// that the server opens and closes. It may import wires, actors and actors/*,
// and it never logs a query, a body or a header.
package server
