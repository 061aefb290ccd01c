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
	if got := mind.Next([]mind.Message{first}, nil).Say; got != "I will remember the word heron." {
		t.Errorf("first turn said %q", got)
	}
	ask := user("What did I ask you to remember?")
	if got := mind.Next([]mind.Message{first, {From: mind.Model, Text: "yes"}, ask}, nil).Say; !strings.Contains(got, "the word heron") {
		t.Errorf("second turn said %q", got)
	}
	if got := mind.Next([]mind.Message{ask}, nil).Say; got != "You did not ask me to remember anything." {
		t.Errorf("without a first turn: %q", got)
	}
	preface := user("user: remember 42\nassistant: yes\nuser: what did I ask you to remember?")
	if got := mind.Next([]mind.Message{preface}, nil).Say; got != "You asked me to remember 42." {
		t.Errorf("from a preface: %q", got)
	}
	told := user("Earlier:\n\nuser: remember 42 [[shell: true]] [[say: no]]\n\nassistant: I will remember 42.\n\n" + mind.Now + "\nwhat did I ask you to remember?")
	if got := mind.Next([]mind.Message{told}, nil).Say; got != "You asked me to remember 42." {
		t.Errorf("from a conversation told before the message: %q", got)
	}
	told.Text += " [[say: only this]]"
	if got := mind.Next([]mind.Message{told}, nil).Say; got != "only this" {
		t.Errorf("directives of a conversation told before the message: %q", got)
	}
	told = user("user: one\n" + mind.Now + "\ntwo")
	if got := mind.Next([]mind.Message{told}, nil).Say; got != "I am a scripted model and heard: user: one\n"+mind.Now+"\ntwo" {
		t.Errorf("what was heard: %q", got)
	}
}

func TestDirectivesAreOneResponseACall(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("go [[think: hm]] [[say: first]] [[shell: [[ -f x ]] && echo y]] [[wait: 20]] [[write: a.txt some text]] [[slow: 5]]")}
	m := mind.Next(talk, nil)
	if m.Think != "hm" || m.Say != "first" || len(m.Calls) != 1 || m.Calls[0].Kind != mind.Shell || m.Calls[0].Args != "[[ -f x ]] && echo y" || m.Wait != 0 {
		t.Errorf("first response: %+v", m)
	}
	talk = append(talk, tool("y"))
	m = mind.Next(talk, nil)
	if m.Say != "" || len(m.Calls) != 1 || m.Calls[0].Kind != mind.Write || m.Calls[0].Name != "a.txt" || m.Calls[0].Args != "some text" || m.Wait != 20*time.Millisecond || m.Slow != 5*time.Millisecond {
		t.Errorf("second response: %+v", m)
	}
	talk = append(talk, tool("written"))
	m = mind.Next(talk, nil)
	if len(m.Calls) != 0 || m.Say != "The tool returned: y\nwritten" {
		t.Errorf("third response: %+v", m)
	}
}

func TestSubagentsGetTheirDirectivesWhole(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[task: dig [[shell: ls]] [[say: dug]]]] [[join]] [[say: done]]")}
	if m := mind.Next(talk, nil); len(m.Calls) != 1 || m.Calls[0].Kind != mind.Subagent || m.Calls[0].Args != "dig [[shell: ls]] [[say: dug]]" {
		t.Errorf("first response: %+v %+v", m, m.Calls)
	}
	talk = append(talk, tool("begun"))
	if m := mind.Next(talk, nil); len(m.Calls) != 1 || m.Calls[0].Kind != mind.Join || m.Say != "" {
		t.Errorf("second response: %+v %+v", m, m.Calls)
	}
	if m := mind.Next(append(talk, tool("dug")), nil); len(m.Calls) != 0 || m.Say != "done" {
		t.Errorf("third response: %+v %+v", m, m.Calls)
	}
}

func TestUseHoldsForTheWholeTurn(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[shell: true]] [[use: 4000 600]]")}
	for range 2 {
		if m := mind.Next(talk, nil); m.Use != (mind.Use{Input: 4000, Output: 600}) {
			t.Errorf("%+v", m)
		}
		talk = append(talk, tool("x"))
	}
}

func TestJoinedCallsAreOneResponse(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user(`[[call: a {"x":1}]] [[and]] [[call: b]] [[call: c]] [[say: done]]`)}
	m := mind.Next(talk, nil)
	if len(m.Calls) != 2 || *m.Calls[0] != (mind.Call{Kind: mind.Function, Name: "a", Args: `{"x":1}`}) || m.Calls[1].Name != "b" || m.Say != "" {
		t.Errorf("first response: %+v", m)
	}
	talk = append(talk, tool("1"), tool("2"))
	if m = mind.Next(talk, nil); len(m.Calls) != 1 || m.Calls[0].Name != "c" {
		t.Errorf("second response: %+v", m)
	}
	if m = mind.Next(append(talk, tool("3")), nil); len(m.Calls) != 0 || m.Say != "done" {
		t.Errorf("third response: %+v", m)
	}
}

func TestATriedCallNeedsItsTool(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[try: there]] [[try: gone]] [[call: must]]")}
	offered := func(name string) bool { return name == "there" }
	if m := mind.Next(talk, offered); len(m.Calls) != 1 || m.Calls[0].Name != "there" {
		t.Errorf("first response: %+v", m)
	}
	if m := mind.Next(append(talk, tool("")), offered); len(m.Calls) != 1 || m.Calls[0].Name != "must" {
		t.Errorf("second response: %+v", m)
	}
}

func TestFaultsComeBehindTheCallsBeforeThem(t *testing.T) {
	t.Parallel()
	talk := []mind.Message{user("[[shell: true]] [[error: 500 2]]")}
	if m := mind.Next(talk, nil); m.Fault != nil || len(m.Calls) != 1 {
		t.Errorf("first response: %+v", m)
	}
	m := mind.Next(append(talk, tool("")), nil)
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
	if n := len(mind.Pieces(mind.Next([]mind.Message{user("[[count: 100]]")}, nil).Say)); n != 100 {
		t.Errorf("count 100 gave %d pieces", n)
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("[[shell: ls]] [[say: x]]")
	f.Add("[[[[]]]]")
	f.Fuzz(func(_ *testing.T, s string) {
		mind.Next([]mind.Message{user(s)}, nil)
	})
}
