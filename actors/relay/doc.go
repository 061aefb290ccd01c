// Package relay is an HTTP server on loopback that stands between a CLI and its model
// provider: the CLI is given the relay's address and a token of the host's own making,
// and the key is added on the way out, so no process of an agent ever holds it.
//
// A Pass is one credential's way through: the base URL and the key of its provider, a
// random token, and whoever uses it now. Its token opens nothing while no turn uses it,
// and nothing ever again once everybody let go of it. What comes with it goes to the
// base URL and what is below that, and nowhere else: the relay follows no redirect,
// takes no other host, no scheme, no tunnel and no upgrade, and refuses a path that
// could be read in two ways.
//
// Answers are passed on as they come, errors too. What they say was used is told to the
// turn that uses the pass, if there is only one.
//
// It owns its listener and the requests on it, knows no turn, session or adapter, and
// imports actors/event and actors/redact.
package relay
