// Package registry is a package registry on loopback that npm installs from: the
// packages are made by the test that publishes them. It speaks as much of npm's
// protocol as `npm ci` uses. It is imported by tests only.
package registry
