package agents

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

// shop is a service with a session of alice's and two artifacts of it.
func shop(t *testing.T) (s *service, base string, files []*fakeArtifact) {
	t.Helper()
	s = serve(t, Options{})
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	session, _ := event.Parse(id, event.PrefixSession)
	files = []*fakeArtifact{
		s.engine.publish("alice", session, 1, "outputs/report.txt", "d1", []byte("0123456789")),
		s.engine.publish("alice", session, 2, "outputs/d/\r\nX-Evil: 1/\"<b>\";\u202e\x00übung.html", "d2", []byte("<script>")),
	}
	t.Cleanup(func() {
		for _, f := range files {
			if f.open != 0 {
				t.Errorf("%d contents of %s were left open", f.open, f.Path)
			}
		}
	})
	return s, "/agents/sessions/" + id + "/artifacts", files
}

// transcript has every request of a story with its answer.
func (s *service) transcript(out *strings.Builder, verb, path string, headers ...string) *answer {
	a := s.do(verb, path, "", headers...)
	fmt.Fprintf(out, "%s %s %q\n%d", verb, path, headers, a.Status)
	for _, h := range []string{"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Etag", "Accept-Ranges", "X-Content-Type-Options"} {
		if v := a.Header.Get(h); v != "" {
			fmt.Fprintf(out, "\n%s: %s", h, v)
		}
	}
	fmt.Fprintf(out, "\n%s\n\n", a.Raw)
	return a
}

func TestArtifactsGolden(t *testing.T) {
	t.Parallel()
	s, base, files := shop(t)
	one, two := base+"/"+files[0].ID.With(event.PrefixArtifact), base+"/"+files[1].ID.With(event.PrefixArtifact)
	var out strings.Builder
	s.transcript(&out, "GET", base)
	s.transcript(&out, "GET", base+"?order=asc&limit=1")
	s.transcript(&out, "GET", base+"?order=asc&after="+files[0].ID.With(event.PrefixArtifact))
	s.transcript(&out, "GET", base+"?environment_id="+fixedID(0xe5, 2).With(event.PrefixEnvironment))
	s.transcript(&out, "GET", base+"?environment_id=nonsense")
	s.transcript(&out, "GET", base+"?environment_id=&limit=1")
	s.transcript(&out, "GET", base+"?environment_id="+fixedID(0xe5, 1).With(event.PrefixEnvironment)+"&limit=1")
	s.transcript(&out, "GET", one).is("SessionArtifact")
	s.transcript(&out, "GET", one+"/content")
	s.transcript(&out, "HEAD", one+"/content")
	s.transcript(&out, "GET", one+"/content", "Range", "bytes=2-4")
	s.transcript(&out, "GET", one+"/content", "Range", "bytes=-2", "If-Range", `"d0"`)
	s.transcript(&out, "GET", one+"/content", "Range", "bytes=10-")
	s.transcript(&out, "GET", one+"/content", "If-None-Match", `"d0", W/"d1"`, "Range", "bytes=2-4")
	s.transcript(&out, "GET", one+"/content", "If-None-Match", `"d0"`)
	s.transcript(&out, "GET", two+"/content")
	s.transcript(&out, "DELETE", one).is("SessionArtifactDeleted")
	for _, path := range []string{one, one + "/content", base + "?after=art_1", base + "?limit=101"} {
		s.transcript(&out, "GET", path)
	}
	s.transcript(&out, "DELETE", one)
	s.transcript(&out, "GET", base)

	const file = "testdata/artifacts.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the answers differ from %s; run with -update and read the difference:\n%s", file, out.String())
	}
}

// Whatever is not the caller's is answered like what does not exist, to the byte.
func TestForeignArtifactsAreUnknownOnes(t *testing.T) {
	t.Parallel()
	s, base, files := shop(t)
	id := files[0].ID.With(event.PrefixArtifact)
	other := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).str("id")
	for _, verb := range []string{"GET", "DELETE"} {
		for _, tail := range []string{"", "/content"} {
			if verb == "DELETE" && tail != "" {
				continue
			}
			for _, c := range []struct{ what, path, owner, code, param, named string }{
				{"another principal", base + "/" + id, "bob", "session_not_found", "session_id", base[len("/agents/sessions/") : len(base)-len("/artifacts")]},
				{"another session", "/agents/sessions/" + other + "/artifacts/" + id, "alice", "artifact_not_found", "artifact_id", id},
				{"unknown", base + "/" + fixedID(0xa7, 9).With(event.PrefixArtifact), "alice", "artifact_not_found", "artifact_id", fixedID(0xa7, 9).With(event.PrefixArtifact)},
				{"of an item", base + "/" + files[0].ID.With(event.PrefixItem), "alice", "artifact_not_found", "artifact_id", files[0].ID.With(event.PrefixItem)},
				{"malformed", base + "/x", "alice", "artifact_not_found", "artifact_id", "x"},
			} {
				a := s.do(verb, c.path+tail, "", "X-Test-Owner", c.owner)
				message := a.refused(http.StatusNotFound, c.code, c.param)
				what := strings.TrimSuffix(c.param, "_id")
				if message != "there is no "+what+" "+c.named {
					t.Errorf("%s %s: %q", verb, c.what, message)
				}
			}
		}
	}
	s.do("GET", base, "", "X-Test-Owner", "bob").refused(http.StatusNotFound, "session_not_found", "session_id")
}
