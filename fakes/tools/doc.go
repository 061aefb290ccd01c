// Package tools finds what install.sh has installed: the pinned real CLIs and
// SDKs. It installs nothing itself and is imported by tests only.
package tools
