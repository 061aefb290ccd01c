// Package mcp is a stand-in MCP server, on standard input and output or over HTTP on
// loopback. It offers the tools echo (answers its text), env (answers the length of an
// environment variable, never its value), fail (answers an error) and wait (answers
// after some milliseconds). Over HTTP it can insist on headers and tells which came.
//
// It imports nothing of ours.
package mcp
