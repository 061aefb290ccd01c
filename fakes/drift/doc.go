// Package drift compares what the installed official SDKs can call and read with
// what docs/openapi.json says that we serve, and lists what we lack: operations,
// parameters, fields, kinds of items and events, words of closed sets.
//
// It reads the npm package's declarations and code as text, and lets the Python
// package's own interpreter print its types (dump.py). The reasons for gaps that
// are known stand in known.txt; a gap without one, or a reason without a gap,
// fails the test. So a new SDK and a field that we lost show up alike.
//
// It imports nothing of this module outside fakes.
package drift
