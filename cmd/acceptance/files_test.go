package acceptance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/tools"
)

func TestFilesSurviveAKilledServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	put := func(name string, content []byte) *answer {
		return r.http.do("POST", "/v1/files", map[string]any{"filename": name, "purpose": "user_data", "data": base64.StdEncoding.EncodeToString(content)})
	}
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	kept, gone := put("kept.bin", content).str("id"), put("gone.bin", content).str("id")
	r.http.ok("DELETE", "/v1/files/"+gone, nil)
	r.Kill()
	r.Restart()
	if a := r.http.ok("GET", "/v1/files/"+kept+"/content", nil); !bytes.Equal(a.body, content) {
		t.Errorf("%d bytes came back", len(a.body))
	}
	if a := r.http.do("GET", "/v1/files/"+gone, nil); a.status != 404 {
		t.Errorf("a deleted file: %d %s", a.status, a.body)
	}
	if a := r.http.ok("GET", "/v1/files", nil); !strings.Contains(string(a.body), kept) || strings.Contains(string(a.body), gone) {
		t.Errorf("list: %s", a.body)
	}
}

// picture is a PNG that no other test has, and its data: URL.
func picture(t *testing.T, shade uint8) ([]byte, string) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, color.RGBA{shade, uint8(i), 200, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// A picture reaches the model of the real Codex, by whichever way it came.
func TestRealCodexSeesPictures(t *testing.T) {
	t.Parallel()
	r := newCLIRig(t, "codex", tools.Need(t, "bin/codex"))
	stored, storedURL := picture(t, 10)
	_, sentURL := picture(t, 90)
	id := r.http.ok("POST", "/v1/files", map[string]any{"filename": "a.png", "purpose": "vision", "data": base64.StdEncoding.EncodeToString(stored)}).str("id")
	content := func(words string) []any {
		return []any{
			map[string]any{"type": "input_text", "text": "[[say: " + words + "]]"},
			map[string]any{"type": "input_image", "file_id": id},
			map[string]any{"type": "input_image", "image_url": sentURL},
		}
	}
	seen := func(since int) error {
		for _, q := range r.provider.Requests()[since:] {
			var body any
			if err := json.Unmarshal(q.Body, &body); err != nil {
				continue
			}
			if urls := fmt.Sprint(imageURLs(body)); strings.Contains(urls, storedURL) && strings.Contains(urls, sentURL) {
				return nil
			}
		}
		return fmt.Errorf("no request to the model has both pictures")
	}
	got := r.http.respond(map[string]any{"model": "codex", "input": []any{map[string]any{"role": "user", "content": content("seen once")}}})
	if got.str("status") != "completed" || outputText(got) != "seen once" {
		t.Fatalf("answered %s", clip(got.body))
	}
	if err := seen(0); err != nil {
		t.Error(err)
	}
	r.verified(t, "codex", "images")

	// What was accepted needs the upload no longer: the session goes on without it.
	since := len(r.provider.Requests())
	body := sessionBody("codex", "")
	body["input"] = []any{map[string]any{"role": "user", "content": content("seen twice")}}
	session := r.http.ok("POST", "/v1/agents/sessions", body).str("id")
	r.http.ok("DELETE", "/v1/files/"+id, nil)
	if o := toldBySession(t, r, strings.TrimPrefix(session, "agsess_")); o.text != "seen twice" {
		t.Errorf("said %q, %s", o.text, o.message)
	}
	if err := seen(since); err != nil {
		t.Error(err)
	}
	again := r.http.do("POST", "/v1/agents/sessions", body)
	if at(again.object, "error", "code") != "file_not_found" || at(again.object, "error", "param") != "input[0].content[1]" {
		t.Errorf("a deleted picture: %d %s", again.status, again.body)
	}
}

// imageURLs are all image_url values of a request.
func imageURLs(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v["image_url"].(string); ok {
			out = append(out, s)
		}
		for _, one := range v {
			out = append(out, imageURLs(one)...)
		}
	case []any:
		for _, one := range v {
			out = append(out, imageURLs(one)...)
		}
	}
	return out
}

// An adapter without pictures refuses them by the part's name before anything runs.
func TestPicturesAreRefusedWhereTheCLITakesNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, url := picture(t, 50)
	content := []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "input_text", "text": "tag:picture look"}, map[string]any{"type": "input_image", "image_url": url}}}}
	session := r.http.session("claude-code")
	for _, c := range []struct {
		path, param string
		body        map[string]any
	}{
		{"/v1/responses", "input[0].content[1]", map[string]any{"model": "claude-code", "input": content}},
		{"/v1/agents/sessions", "input[0].content[1]", map[string]any{"agent": map[string]any{"model": "claude-code"}, "input": content}},
		{"/v1/agents/sessions/" + session + "/events", "events[0].input[0].content[1]", events(map[string]any{"type": "agent.session.input.message", "input": content})},
	} {
		a := r.http.do("POST", c.path, c.body)
		if a.status != 400 || at(a.object, "error", "code") != "agents.unsupported" || at(a.object, "error", "param") != c.param {
			t.Errorf("%s: %d %s", c.path, a.status, a.body)
		}
	}
	if runs, _ := r.ran(); len(runs) != 0 {
		t.Errorf("something ran: %+v", runs)
	}
}
