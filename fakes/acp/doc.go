// Package acp is a stand-in for CLIs that speak the Agent Client Protocol: it answers
// by the directives of the prompt (package mind), runs commands when it may, and keeps
// the words of its conversations below its home. It is for tests of adapters whose CLI
// cannot be installed, and of declared ones.
package acp
