package codex

import (
	"os"
	"path/filepath"
	"runtime"
)

// Locate finds the native binary behind the npm package's node wrapper, which costs
// 50 MB and a second a turn. Anything else is returned as it is.
func (*Adapter) Locate(found string) string {
	resolved, err := filepath.EvalSymlinks(found)
	if err != nil || filepath.Base(resolved) != "codex.js" {
		return found
	}
	pkg := filepath.Dir(filepath.Dir(resolved)) // .../@openai/codex
	target, platform := triple()
	if target == "" {
		return found
	}
	for _, root := range []string{
		filepath.Join(filepath.Dir(pkg), "codex-"+platform),
		filepath.Join(pkg, "node_modules", "@openai", "codex-"+platform),
		pkg,
	} {
		for _, dir := range []string{"bin", "codex"} {
			native := filepath.Join(root, "vendor", target, dir, "codex")
			if info, err := os.Stat(native); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return native
			}
		}
	}
	return found
}

// triple is how the packages name this machine.
func triple() (target, platform string) {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		return "x86_64-unknown-linux-musl", "linux-x64"
	case "linux/arm64":
		return "aarch64-unknown-linux-musl", "linux-arm64"
	case "darwin/amd64":
		return "x86_64-apple-darwin", "darwin-x64"
	case "darwin/arm64":
		return "aarch64-apple-darwin", "darwin-arm64"
	}
	return "", ""
}
