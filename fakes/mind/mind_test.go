package mind_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

func user(s string) mind.Message { return mind.Message{From: mind.User, Text: s} }
func tool(s string) mind.Message { return mind.Message{From: mind.Tool, Text: s} }

func TestAConversationIsRecalledFromItsTranscript(t *testing.T) {
	t.Parallel()
	first := user("Please remember the word heron.")
	if got := mind.Next([]mind.Message{first}).Say; got != "I will remember the word heron." {
		t.Errorf("first turn said %q", got)
	}
	ask := user("What did I ask you to remember?")
	if got := mind.Next([]mind.Message{first, {From: mind.Model, Text: "yes"}, ask}).Say; !strings.Contains(got, "the word heron") {
		t.Errorf("second turn said %q", got)
	}
	if got := mind.Next([]mind.Message{ask}).Say; got != "You did not ask me to remember anything." {
		t.Errorf("without a first turn: %q", got)
	}
	preface := user("user: remember 42\nassistant: yes\nuser: what did I ask you to remember?")
	if got := mind.Next([]mind.Message{preface}).Say; got != "You asked me to remember 42." {
		t.Errorf("from a preface: %q", got)
	}
}

func TestDirectivesAreOneResponseACall(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("go [[think: hm]] [[say: first]] [[shell: [[ -f x ]] && echo y]] [[wait: 20]] [[write: a.txt some text]] [[slow: 5]]")}
	m := mind.Next(talk)
	if m.Think != "hm" || m.Say != "first" || m.Call == nil || m.Call.Kind != mind.Shell || m.Call.Args != "[[ -f x ]] && echo y" || m.Wait != 0 {
		t.Errorf("first response: %+v %+v", m, m.Call)
	}
	talk = append(talk, tool("y"))
	m = mind.Next(talk)
	if m.Say != "" || m.Call == nil || m.Call.Kind != mind.Write || m.Call.Name != "a.txt" || m.Call.Args != "some text" || m.Wait != 20*time.Millisecond || m.Slow != 5*time.Millisecond {
		t.Errorf("second response: %+v %+v", m, m.Call)
	}
	talk = append(talk, tool("written"))
	m = mind.Next(talk)
	if m.Call != nil || m.Say != "The tool returned: y\nwritten" {
		t.Errorf("third response: %+v", m)
	}
}

func TestSubagentsGetTheirDirectivesWhole(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[task: dig [[shell: ls]] [[say: dug]]]] [[join]] [[say: done]]")}
	if m := mind.Next(talk); m.Call == nil || m.Call.Kind != mind.Subagent || m.Call.Args != "dig [[shell: ls]] [[say: dug]]" {
		t.Errorf("first response: %+v %+v", m, m.Call)
	}
	talk = append(talk, tool("begun"))
	if m := mind.Next(talk); m.Call == nil || m.Call.Kind != mind.Join || m.Say != "" {
		t.Errorf("second response: %+v %+v", m, m.Call)
	}
	if m := mind.Next(append(talk, tool("dug"))); m.Call != nil || m.Say != "done" {
		t.Errorf("third response: %+v %+v", m, m.Call)
	}
}

func TestUseHoldsForTheWholeTurn(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[shell: true]] [[use: 4000 600]]")}
	for range 2 {
		if m := mind.Next(talk); m.Use != (mind.Use{Input: 4000, Output: 600}) {
			t.Errorf("%+v", m)
		}
		talk = append(talk, tool("x"))
	}
}

func TestFaultsComeBehindTheCallsBeforeThem(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[shell: true]] [[error: 500 2]]")}
	if m := mind.Next(talk); m.Fault != nil || m.Call == nil {
		t.Errorf("first response: %+v", m)
	}
	m := mind.Next(append(talk, tool("")))
	if m.Fault == nil || *m.Fault != (mind.Fault{Kind: "500", Times: 2}) {
		t.Errorf("second response: %+v", m)
	}
}

func TestTextThatIsNoDirectiveStays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a [[b", "if [[ -f x ]]; then", "]] [[", "[[A: b]]", "[[]]"} {
		plain, list := mind.Directives(s)
		if plain != s || len(list) != 0 {
			t.Errorf("%q became %q and %v", s, plain, list)
		}
	}
}

func TestPiecesJoinToTheText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "one two  three", " lead", strings.Repeat("é", 9000), "tail "} {
		p := mind.Pieces(s)
		if strings.Join(p, "") != s {
			t.Errorf("pieces of %.20q do not join to it", s)
		}
	}
	if n := len(mind.Pieces(mind.Next([]mind.Message{user("[[count: 100]]")}).Say)); n != 100 {
		t.Errorf("count 100 gave %d pieces", n)
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("[[shell: ls]] [[say: x]]")
	f.Add("[[[[]]]]")
	f.Fuzz(func(_ *testing.T, s string) {
		mind.Next([]mind.Message{user(s)})
	})
}
