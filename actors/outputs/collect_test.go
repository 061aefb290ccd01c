package outputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// place is a workspace and where its copies go.
type place struct {
	t    *testing.T
	work string
	into string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top := t.TempDir()
	p := &place{t: t, work: filepath.Join(top, "work"), into: filepath.Join(top, "copies")}
	p.must(os.MkdirAll(filepath.Join(p.work, Dir), 0o700))
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) at(name string) string { return filepath.Join(p.work, filepath.FromSlash(name)) }

func (p *place) write(name, content string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o700))
	p.must(os.WriteFile(p.at(name), []byte(content), 0o600))
}

func (p *place) order() *Order {
	return &Order{Workspace: p.work, Since: time.Now().Add(-time.Minute), MaxFile: 1 << 20, MaxBytes: 4 << 20, MaxFiles: 100}
}

// collect gives the copies as "path=content", and the notes as one text.
func (p *place) collect(o *Order) (got []string, notes string) {
	p.t.Helper()
	files, said, err := Collect(p.t.Context(), o, p.into)
	p.must(err)
	for i, f := range files {
		b, err := os.ReadFile(filepath.Join(p.into, Name(i)))
		p.must(err)
		sum := sha256.Sum256(b)
		if f.SHA256 != hex.EncodeToString(sum[:]) || f.Bytes != int64(len(b)) || f.Stamp == "" {
			p.t.Errorf("%+v is not about its copy of %d bytes", f, len(b))
		}
		got = append(got, f.Path+"="+string(b))
	}
	left, _ := os.ReadDir(p.into)
	if len(left) != len(files) {
		p.t.Errorf("%d copies lie there, %d are named", len(left), len(files))
	}
	return got, strings.Join(said, "\n")
}

func (p *place) want(o *Order, notes []string, want ...string) {
	p.t.Helper()
	got, said := p.collect(o)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		p.t.Errorf("collected %q, want %q", got, want)
	}
	for _, n := range notes {
		if !strings.Contains(said, n) {
			p.t.Errorf("no note %q in:\n%s", n, said)
		}
	}
	if len(notes) == 0 && said != "" {
		p.t.Errorf("notes:\n%s", said)
	}
}

func TestFilesOfOutputsAreCopied(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/report.txt", "done")
	p.write("outputs/deep/er/table.csv", "1,2")
	p.write("outputs/empty", "")
	p.write("other.txt", "not ours")
	p.want(p.order(), nil, "outputs/deep/er/table.csv=1,2", "outputs/empty=", "outputs/report.txt=done")
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/a.html", "x")
	p.write("outputs/b", "%PDF-1.4")
	files, _, err := Collect(t.Context(), p.order(), p.into)
	p.must(err)
	if len(files) != 2 || files[0].Media != "text/html; charset=utf-8" || files[1].Media != "application/pdf" {
		t.Errorf("%+v", files)
	}
}

func TestNothingToCollectMakesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.want(p.order(), nil)
	p.must(os.Remove(p.at(Dir)))
	if p.order().Any() {
		t.Error("without outputs and reports there is nothing to look for")
	}
	p.must(os.RemoveAll(p.work))
	o := p.order()
	o.Reported = []string{"a"}
	p.want(o, nil)
	if _, err := os.Lstat(p.into); err == nil {
		t.Error("a directory was made for no copies")
	}
}

func TestReportedFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	outside := filepath.Join(filepath.Dir(p.work), "outside.txt")
	p.must(os.WriteFile(outside, []byte("secret"), 0o600))
	p.write("src/main.go", "package main")
	p.write("a.txt", "a")
	p.write("outputs/b.txt", "b")
	p.must(os.Symlink(filepath.Dir(outside), p.at("way")))
	p.must(os.Symlink(p.at("src"), p.at("within")))
	o := p.order()
	o.Since = time.Now().Add(time.Hour) // nothing below outputs is young enough by itself
	o.Reported = []string{
		p.at("src/main.go"), "a.txt", "./a.txt", p.at("outputs/b.txt"), // once each
		outside, "../outside.txt", "way/outside.txt", "within/main.go", "src/../../outside.txt", "/etc/hostname", "", ".", "..", "/", "nul\x00l",
		"gone.txt", "src", "a.txt/below",
	}
	p.want(o, []string{
		`"way/outside.txt" was not published: way is no directory, and links are not followed`,
		`"within/main.go" was not published: within is no directory`, `"src" was not published: it is no regular file`,
	}, "src/main.go=package main", "a.txt=a", "outputs/b.txt=b")
}

// A CLI that resolves its directory reports files by the resolved name.
func TestWorkspaceBehindALink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("a.txt", "a")
	p.write("b.txt", "b")
	link := p.work + "-link"
	p.must(os.Symlink(p.work, link))
	o := p.order()
	o.Workspace, o.Reported = link, []string{p.at("a.txt"), filepath.Join(link, "b.txt")}
	p.want(o, nil, "a.txt=a", "b.txt=b")
	o.Private = true // such a workspace was the host's own directory when it was made
	if _, _, err := Collect(t.Context(), o, p.into+"2"); err == nil {
		t.Error("a private workspace that became a link was followed")
	}
}

func TestHostileKinds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := filepath.Join(filepath.Dir(p.work), "secret")
	p.must(os.MkdirAll(filepath.Join(secret, "d"), 0o700))
	p.must(os.WriteFile(filepath.Join(secret, "key"), []byte("hunter2"), 0o600))
	p.write("outputs/good.txt", "good")
	p.must(os.Symlink(filepath.Join(secret, "key"), p.at("outputs/link")))
	p.must(os.Symlink("good.txt", p.at("outputs/link-inside")))
	p.must(os.Symlink(secret, p.at("outputs/linkdir")))
	p.must(os.Symlink("/dev/zero", p.at("outputs/zero")))
	p.must(os.Symlink("loop", p.at("outputs/loop")))
	p.must(os.Link(filepath.Join(secret, "key"), p.at("outputs/hard")))
	p.must(unix.Mkfifo(p.at("outputs/fifo"), 0o600))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	p.must(err)
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: p.at("outputs/sock")}); err != nil {
		l, err := net.Listen("unix", "@"+t.Name()) // the path is too long for one here
		p.must(err)
		p.must(l.Close())
	}
	notes := []string{
		`"outputs/link" was not published: it is a symbolic link`, `"outputs/link-inside" was not published: it is a symbolic link`,
		`"outputs/linkdir" was not`, `"outputs/zero" was not`, `"outputs/loop" was not`,
		`"outputs/hard" was not published: it has further names`, `"outputs/fifo" was not published: it is no regular file`,
	}
	if unix.Mknod(p.at("outputs/null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) == nil {
		notes = append(notes, `"outputs/null" was not published: it is no regular file`)
	}
	o := p.order()
	o.Reported = []string{"outputs/fifo", "outputs/link", "outputs/linkdir/key"}
	p.want(o, notes, "outputs/good.txt=good")
}

func TestOutputsThatIsNoDirectory(t *testing.T) {
	t.Parallel()
	for kind, make := range map[string]func(p *place){
		"link": func(p *place) {
			p.write("elsewhere/x", "secret")
			p.must(os.Symlink(p.at("elsewhere"), p.at(Dir)))
		},
		"file": func(p *place) { p.write(Dir, "x") },
		"fifo": func(p *place) { p.must(unix.Mkfifo(p.at(Dir), 0o600)) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(os.Remove(p.at(Dir)))
			make(p)
			p.want(p.order(), []string{`"outputs" was not published: it is no directory`})
		})
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/1", "123")
	p.write("outputs/2", "12345678901")
	p.write("outputs/3", "123456")
	p.write("outputs/4", "12")
	o := p.order()
	o.MaxFile, o.MaxBytes = 10, 8
	p.want(o, []string{`"outputs/2" was not published: it is larger than 10 bytes`, `"outputs/3" was not published: the session's artifacts take as much`},
		"outputs/1=123", "outputs/4=12")
	p.must(os.RemoveAll(p.into))
	o = p.order()
	o.MaxFiles = 2
	p.want(o, []string{`"outputs/3" was not published: the session has as many`, `"outputs/4"`}, "outputs/1=123", "outputs/2=12345678901")
	p.must(os.RemoveAll(p.into))
	o.MaxFiles = -3 // the limit was lowered
	p.want(o, []string{`"outputs/1"`})
}

func TestNotesAndEntriesAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for i := range maxNotes + 5 {
		p.must(os.Symlink("x", p.at(fmt.Sprintf("outputs/l%02d", i))))
	}
	if _, said := p.collect(p.order()); !strings.HasSuffix(said, "5 more of the turn's files were not published") || strings.Count(said, "\n") != maxNotes {
		t.Errorf("notes:\n%s", said)
	}
	deep := Dir + strings.Repeat("/d", maxDepth+3)
	p.write(deep+"/x", "deep")
	if got, _ := p.collect(p.order()); len(got) != 0 {
		t.Errorf("collected %q", got)
	}
	p.must(os.RemoveAll(p.at(Dir)))
	p.must(os.Mkdir(p.at(Dir), 0o700))
	for i := range 12 {
		p.write(fmt.Sprintf("outputs/%02d/x", i), "x")
	}
	o := p.order()
	o.MaxEntries = 16
	if got, said := p.collect(o); len(got) != 4 || !strings.Contains(said, "there are more than 16 files and directories in outputs") {
		t.Errorf("collected %q, notes:\n%s", got, said)
	}
}

func TestOldAndKnownFilesStay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/a", "a")
	p.must(os.Symlink("a", p.at("outputs/link")))
	o := p.order()
	o.Since = time.Now().Add(slack + time.Hour)
	p.want(o, nil)
	p.must(os.Remove(p.at("outputs/link")))
	files, _, err := Collect(t.Context(), p.order(), p.into)
	p.must(err)
	p.must(os.RemoveAll(p.into))
	o = p.order()
	o.Published = func(path, stamp string) bool { return path == "outputs/a" && stamp == files[0].Stamp }
	p.want(o, nil)
	// The same bytes at the same time of writing are a new version all the same.
	about, err := os.Stat(p.at("outputs/a"))
	p.must(err)
	p.write("outputs/a.new", "b")
	p.must(os.Chtimes(p.at("outputs/a.new"), about.ModTime(), about.ModTime()))
	p.must(os.Rename(p.at("outputs/a.new"), p.at("outputs/a")))
	p.want(o, nil, "outputs/a=b")
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	p := newPlace(t)
	p.write("outputs/a", "a")
	p.write("outputs/b", "b")
	p.must(os.Chmod(p.at("outputs/a"), 0))
	p.want(p.order(), []string{`"outputs/a" was not published: the host may not read it`}, "outputs/b=b")
}

func TestATimeThatIsOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/a", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, notes, err := Collect(ctx, p.order(), p.into)
	if err != nil || len(files) != 0 || len(notes) != 1 || !strings.Contains(notes[0], "took too long") {
		t.Errorf("%v %q %v", files, notes, err)
	}
}

// The place of the copies is the host's own matter: its faults are errors.
func TestCopiesThatCannotBeKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("outputs/a", "a")
	p.must(os.WriteFile(p.into, nil, 0o600))
	if _, _, err := Collect(t.Context(), p.order(), p.into); err == nil {
		t.Error("no error")
	}
}

// race runs change over and over while f is collecting.
func race(t *testing.T, change func(n int)) (stop func()) {
	t.Helper()
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
				change(n)
			}
		}
	}()
	return func() { close(end); done.Wait() }
}

// Whatever changes under the reader's eyes: no byte of another file comes out.
//
//cases:107
func TestSwapsLeakNothing(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	for name, prepare := range map[string]func(p *place, key string) func(int){
		"file and link": func(p *place, key string) func(int) {
			p.must(os.Symlink(key, p.at("link")))
			return func(n int) {
				if n%2 == 0 {
					_ = os.Symlink(key, p.at("next"))
				} else {
					_ = os.WriteFile(p.at("next"), []byte("mine"), 0o600)
				}
				_ = os.Rename(p.at("next"), p.at("outputs/d/key"))
			}
		},
		"directory and link": func(p *place, key string) func(int) {
			p.write("real/key", "mine")
			return func(n int) {
				_ = os.Rename(p.at("outputs/d"), p.at("real"))
				_ = os.Remove(p.at("outputs/d"))
				_ = os.Symlink(filepath.Dir(key), p.at("outputs/d"))
				_ = os.Remove(p.at("outputs/d"))
				_ = os.Rename(p.at("real"), p.at("outputs/d"))
			}
		},
		"file and FIFO": func(p *place, key string) func(int) {
			return func(n int) {
				if n%2 == 0 {
					_ = unix.Mkfifo(p.at("next"), 0o600)
				} else {
					_ = os.WriteFile(p.at("next"), []byte("mine"), 0o600)
				}
				_ = os.Rename(p.at("next"), p.at("outputs/d/key"))
			}
		},
		"file and hard link": func(p *place, key string) func(int) {
			return func(n int) {
				if n%2 == 0 {
					_ = os.Link(key, p.at("next"))
				} else {
					_ = os.WriteFile(p.at("next"), []byte("mine"), 0o600)
				}
				_ = os.Rename(p.at("next"), p.at("outputs/d/key"))
				_ = os.Remove(p.at("next"))
			}
		},
		"directory and FIFO": func(p *place, key string) func(int) {
			return func(n int) {
				_ = os.Rename(p.at("outputs/d"), p.at("real"))
				_ = unix.Mkfifo(p.at("outputs/d"), 0o600)
				_ = os.Remove(p.at("outputs/d"))
				_ = os.Rename(p.at("real"), p.at("outputs/d"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			key := filepath.Join(filepath.Dir(p.work), "key")
			p.must(os.WriteFile(key, []byte(secret), 0o600))
			p.write("outputs/d/key", "mine")
			change := prepare(p, key)
			stop := race(t, change)
			defer stop()
			o := p.order()
			o.Reported = []string{"outputs/d/key"}
			seen := 0
			for n := 0; n < 150 || seen == 0 && n < 20_000; n++ {
				into := fmt.Sprintf("%s%d", p.into, n)
				files, _, err := Collect(t.Context(), o, into)
				p.must(err)
				for i := range files {
					b, err := os.ReadFile(filepath.Join(into, Name(i)))
					p.must(err)
					if s := string(b); s != "mine" && s != "" { // empty: between open and write
						t.Fatalf("leaked %q as %s", s, files[i].Path)
					}
					seen++
				}
				p.must(os.RemoveAll(into))
			}
			if seen == 0 {
				t.Error("the file was never seen: nothing was tried")
			}
		})
	}
}

// A file that is truncated and written while it is read comes out as its digest
// says, or not at all.
func TestTornFilesAreNotPublished(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := strings.Repeat("a", 300_000), strings.Repeat("b", 200_000)
	p.write("outputs/f", a)
	stop := race(t, func(n int) {
		if n%2 == 0 {
			_ = os.WriteFile(p.at("outputs/f"), []byte(b), 0o600)
		} else {
			_ = os.WriteFile(p.at("outputs/f"), []byte(a), 0o600)
		}
	})
	for n := range 30 {
		into := fmt.Sprintf("%s%d", p.into, n)
		files, notes, err := Collect(t.Context(), p.order(), into)
		p.must(err)
		switch {
		case len(files) == 0 && !strings.Contains(strings.Join(notes, ""), "kept changing"):
			t.Fatalf("left out without a word: %q", notes)
		case len(files) == 1:
			got, err := os.ReadFile(filepath.Join(into, Name(0)))
			p.must(err)
			sum := sha256.Sum256(got)
			if int64(len(got)) != files[0].Bytes || hex.EncodeToString(sum[:]) != files[0].SHA256 {
				t.Fatal("the copy is not what its digest says")
			}
		}
	}
	stop()
	p.want(p.order(), nil, "outputs/f="+func() string { x, _ := os.ReadFile(p.at("outputs/f")); return string(x) }())
}
