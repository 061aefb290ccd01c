package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Registry is a running registry.
type Registry struct {
	server *httptest.Server

	mu       sync.Mutex
	packages map[string]map[string]*version // by name and version
	gate     chan struct{}
	asked    chan struct{}
}

type version struct {
	tarball   []byte
	integrity string
	bin       map[string]string
}

// New starts a registry that ends with the test.
func New(t testing.TB) *Registry {
	t.Helper()
	r := &Registry{packages: map[string]map[string]*version{}, asked: make(chan struct{}, 100)}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() {
		r.Open()
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

// Env makes npm use the registry and nothing of the machine's own settings; dir is
// for its cache.
func (r *Registry) Env(dir string) []string {
	return []string{
		"NPM_CONFIG_REGISTRY=" + r.server.URL + "/", "NPM_CONFIG_CACHE=" + path.Join(dir, "npm-cache"), "NPM_CONFIG_FETCH_RETRIES=0",
		"NPM_CONFIG_USERCONFIG=" + path.Join(dir, "npmrc"), "NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_LOGS_MAX=0",
		"HOME=" + dir,
	}
}

// Publish adds a version of a package whose command is a script, or puts it in the
// place of the one there was, and returns what a lock file says of it: its place and
// the entry. Its install script must not be run: it fails.
func (r *Registry) Publish(t testing.TB, name, number, program, script string) (place string, entry json.RawMessage) {
	t.Helper()
	v := &version{bin: map[string]string{program: "cli.sh"}}
	v.tarball = pack(t, map[string]string{
		"package.json": fmt.Sprintf(`{"name":%q,"version":%q,"bin":{%q:"cli.sh"},"scripts":{"install":"exit 7"}}`, name, number, program),
		"cli.sh":       script,
	})
	v.integrity = integrity(v.tarball)
	r.mu.Lock()
	if r.packages[name] == nil {
		r.packages[name] = map[string]*version{}
	}
	r.packages[name][number] = v
	r.mu.Unlock()
	entry, err := json.Marshal(map[string]any{"version": number, "integrity": v.integrity, "bin": v.bin})
	if err != nil {
		t.Fatal(err)
	}
	return "node_modules/" + name, entry
}

// Claim has the registry say that a published version has another checksum than it
// has.
func (r *Registry) Claim(name, number, integrity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.packages[name][number].integrity = integrity
}

// Hold keeps every download of a package waiting until Open.
func (r *Registry) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = make(chan struct{})
}

// Open lets downloads go on.
func (r *Registry) Open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gate != nil {
		close(r.gate)
		r.gate = nil
	}
}

// Asked gets a value for each download that begins.
func (r *Registry) Asked() <-chan struct{} { return r.asked }

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-store") // npm takes what has no word on it from its cache for a while
	name, file, download := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/-/")
	r.mu.Lock()
	versions, gate := r.packages[name], r.gate
	r.mu.Unlock()
	if versions == nil {
		http.NotFound(w, req)
		return
	}
	if !download {
		out := map[string]any{}
		for number, v := range versions {
			out[number] = map[string]any{
				"name": name, "version": number, "bin": v.bin,
				"dist": map[string]string{"tarball": r.server.URL + "/" + name + "/-/" + number + ".tgz", "integrity": v.integrity},
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "versions": out, "dist-tags": map[string]string{}})
		return
	}
	v := versions[strings.TrimSuffix(file, ".tgz")]
	if v == nil {
		http.NotFound(w, req)
		return
	}
	select {
	case r.asked <- struct{}{}:
	default:
	}
	if gate != nil {
		select {
		case <-gate:
		case <-req.Context().Done():
			return
		}
	}
	_, _ = w.Write(v.tarball)
}

func integrity(b []byte) string {
	sum := sha512.Sum512(b)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) { // the same bytes each time
		text := files[name]
		if err := w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
