package actors_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// wheel writes a Python package whose command tells its version, and gives its
// checksum.
func wheel(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const info = "tiny-1.0.0.dist-info/"
	for _, f := range [][2]string{
		{"tiny.py", "def main():\n    print('tiny 1.0.0')\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", "[console_scripts]\ntiny = tiny:main\n"},
		{info + "RECORD", "tiny.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "entry_points.txt,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tiny-1.0.0-py3-none-any.whl"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

func TestPythonCLIIsInstalledAndHeldToItsHash(t *testing.T) {
	t.Parallel()
	if os.Getenv("AGENTHOST_CERTIFY") == "" {
		t.Skip("making an environment takes long: make certify")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not there")
	}
	wheels, tools := t.TempDir(), filepath.Join(t.TempDir(), "tools")
	sum := wheel(t, wheels)
	install := func(sum string) *actors.Install {
		rc := actors.RuntimeConfig{Adapter: versioned{script{binary: "tiny"}}, Manifests: []agent.Manifest{{
			Adapter: "script", Program: "tiny", Version: "1.0.0", Bin: []string{"env/bin/tiny"},
			Pip: &agent.PipPackage{Package: "tiny", Requirements: []string{"tiny==1.0.0 --hash=sha256:" + sum}},
		}}}
		h := started(t, quick(), memory.New(), actors.WithRuntime(rc), actors.WithToolsDirs(tools),
			actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + wheels}))
		if _, err := h.Install(ctx(t), "script", ""); err != nil {
			t.Fatal(err)
		}
		done, err := h.AwaitInstall(ctx(t), "script", nil)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if done := install(strings.Repeat("0", 64)); done.State != actors.InstallFailed || done.Failure.Code != event.IntegrityMismatch {
		t.Errorf("another hash: %+v, %v", done, done.Failure)
	}
	if done := install(sum); done.State != actors.InstallCompleted || !strings.Contains(progress(done), "it starts: tiny 1.0.0") {
		t.Errorf("%+v, %v", done, done.Failure)
	}
}
