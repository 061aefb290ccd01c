// Package drive is the client's side of a measurement: sessions and turns on each
// host's own wire, read as they arrive. What a host said is judged by what the CLI
// put into each text: "ts:UNIXNANOS seq:I", in order from 0.
//
// It imports the standard library and bench/floor.
package drive
