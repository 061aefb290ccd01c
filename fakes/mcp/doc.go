// Package mcp is a stand-in MCP server on standard input and output. It offers the
// tools echo (answers its text), env (answers the length of an environment
// variable, never its value), fail (answers an error) and wait (answers after
// some milliseconds).
//
// It imports nothing of ours and may not use the network.
package mcp
