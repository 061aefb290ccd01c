package adaptertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// Expected is what must come of a run, whatever its facts look like. It is one entry
// of an expected.json.
type Expected struct {
	Exit       int      `json:"exit"`
	Status     statuses `json:"status"`
	Text       *string  `json:"text"`  // the one message
	Texts      []string `json:"texts"` // the messages in order
	JoinedText string   `json:"joined_text"`
	Code       string   `json:"code"`
	NativeID   string   `json:"native_id"`
	UsageTotal int64    `json:"usage_total"`
}

// statuses is one allowed status or several.
type statuses []string

func (s *statuses) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = statuses{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// RunExpected plays every run that dir/expected.json names into a parser of a and
// compares the outcome.
func RunExpected(t *testing.T, a agent.Adapter, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]Expected
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			tr, err := Load(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			tr.Exit.Code = want.Exit
			want.check(t, a, tr)
		})
	}
}

func (want Expected) check(t *testing.T, a agent.Adapter, tr *Transcript) {
	t.Helper()
	got := Read(a.NewParser(Request(a)), tr)
	status := "failed"
	if got.Completed(tr.Exit, false) {
		status = "completed"
	}
	if v := got.Verdict; v != nil && v.Failure != nil && (v.Failure.Code == event.TurnLimit || v.Failure.Code == event.MaxOutputTokens) {
		status = "incomplete"
	}
	if !slices.Contains(want.Status, status) {
		t.Errorf("status %s, want %s (verdict %+v)", status, want.Status, got.Verdict)
	}
	texts := got.Texts()
	switch {
	case want.Texts != nil:
		if !slices.Equal(texts, want.Texts) {
			t.Errorf("texts %q, want %q", texts, want.Texts)
		}
	case want.JoinedText != "":
		if strings.Join(texts, "") != want.JoinedText {
			t.Errorf("texts %q, want them to join to %q", texts, want.JoinedText)
		}
	case want.Text != nil && *want.Text == "":
		if len(texts) > 1 || strings.Join(texts, "") != "" {
			t.Errorf("texts %q, want none", texts)
		}
	case want.Text != nil:
		if !slices.Equal(texts, []string{*want.Text}) {
			t.Errorf("texts %q, want only %q", texts, *want.Text)
		}
	}
	if want.Code != "" && (got.Verdict == nil || got.Verdict.Failure == nil || string(got.Verdict.Failure.Code) != want.Code) {
		t.Errorf("verdict %+v, want code %s", got.Verdict, want.Code)
	}
	if want.NativeID != "" && got.Native != want.NativeID {
		t.Errorf("native id %q, want %q", got.Native, want.NativeID)
	}
	if want.UsageTotal != 0 && (got.Verdict == nil || got.Verdict.Usage == nil || got.Verdict.Usage.Total() != want.UsageTotal) {
		t.Errorf("verdict %+v, want %d tokens", got.Verdict, want.UsageTotal)
	}
}

// FuzzFeed feeds arbitrary bytes, as lines, into parsers of a. Seeds are the lines of
// the runs in dirs. A parser may not panic, lose a line that is no noise for it, or
// give invalid UTF-8.
func FuzzFeed(f *testing.F, a agent.Adapter, dirs ...string) {
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := suite{a: a, c: Cases{Silent: func([]byte) bool { return true }}}
		s.feed(t, &Transcript{Lines: Lines(data), Exit: agent.Exit{Code: 1, Stderr: string(data)}})
		facts, _ := s.feed(t, &Transcript{Lines: Lines(data)})
		s.consistentLoose(t, facts)
	})
}
