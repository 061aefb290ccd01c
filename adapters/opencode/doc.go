// Package opencode runs the OpenCode CLI by `opencode acp`, many sessions a process. It
// has no exec driver. Its facts were taken from version 1.18.33 (Pinned).
//
// What to know:
//
//   - Provider, model and permissions are in its configuration, which is in a variable
//     (OPENCODE_CONFIG_CONTENT) and beats the person's own; the key is not in it, only
//     the name of its variable. So turns with another model have another process. A
//     request that names no model asks the provider for the one called "default".
//   - It has no sandbox. workspace_write denies what its own tools would do outside the
//     workspace, but a command is not confined: Capabilities.Confined is false.
//   - A workspace's own opencode.json and plugins could widen a permission, so they are
//     read with full_access only; with them goes AGENTS.md, which the same switch leaves
//     out.
//   - Sessions of one directory see each other's MCP servers: see package acp.
//   - A plugin of a few lines gives each command its session's id (mark.js), by which
//     what a cancelled turn left is found.
//   - With a plugin the CLI waits until it has installed a package for plugins into its
//     home, from the network. It is kept from that (NPM_CONFIG_OFFLINE), and its commands
//     and tool servers are told that they may.
//   - It serves itself by HTTP on a loopback port that the system gives it, so it works
//     where ports are allowed by number (landlock) only in a network of its own.
//   - Tokens are told of a turn's last request only, so they are not counted.
//   - It tells no patience with a provider that fails: it tries again for minutes on 5xx.
//
// It may import adapters/acp, actors/agent, actors/event, actors/spec and the packages
// below adapters/internal.
package opencode
