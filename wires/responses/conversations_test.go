package responses_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/openapi"
	"github.com/agenthost/agenthost/wires/responses"
)

// conversation makes one and gives its path.
func (c *client) conversation(body string) string {
	c.t.Helper()
	a := c.do("POST", "/v1/conversations", body)
	id := a.id()
	if !strings.HasPrefix(id, "conv_") {
		c.t.Fatalf("%s", a.body)
	}
	return "/v1/conversations/" + id
}

func (c *client) post(path, items string, headers ...string) *answer {
	c.t.Helper()
	return c.do("POST", path+"/items", `{"items":[`+items+`]}`, headers...)
}

// data are the elements of a page, its ids checked.
func (a *answer) data() []map[string]any {
	a.t.Helper()
	o := a.object()
	var out []map[string]any
	list, _ := o["data"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	if len(out) > 0 && (o["first_id"] != out[0]["id"] || o["last_id"] != out[len(out)-1]["id"]) || o["object"] != "list" {
		a.t.Errorf("page %s", a.body)
	}
	return out
}

func idOf(m map[string]any) string { id, _ := m["id"].(string); return id }

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func TestConversationIsMadeReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	a := c.do("POST", "/v1/conversations", `{"metadata":{"a":"b"},"items":[`+user("hi")+`],"shiny":1}`)
	path := "/v1/conversations/" + a.id()
	if o := a.object(); o["object"] != "conversation" || o["created_at"] != float64(1_700_000_000) || fmt.Sprint(o["metadata"]) != "map[a:b]" {
		t.Errorf("%s", a.body)
	}
	if got := a.header.Get(responses.HeaderIgnored); got != "shiny" {
		t.Errorf("ignored %q", got)
	}
	if got := c.do("GET", strings.Replace(path, "conv_", "agsess_", 1), ""); !bytes.Equal(got.body, a.body) {
		t.Errorf("%s, was %s", got.body, a.body)
	}
	for body, want := range map[string]string{`{"metadata":{"c":"d"}}`: "map[c:d]", `{"metadata":null}`: "map[]"} {
		for _, x := range []*answer{c.do("POST", path, body), c.do("GET", path, "")} {
			if fmt.Sprint(x.object()["metadata"]) != want {
				t.Errorf("%s: %s", body, x.body)
			}
		}
	}
	if got := c.do("DELETE", path, ""); string(got.body) != `{"id":"`+a.id()+`","deleted":true,"object":"conversation.deleted"}` {
		t.Errorf("%s", got.body)
	}
	for _, empty := range []string{"", "{}", `{"items":[],"metadata":null}`, `{"items":null}`} {
		if items := c.do("GET", c.conversation(empty)+"/items", ""); string(items.body) != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
			t.Errorf("%s: %s", empty, items.body)
		}
	}
}

// Unknown, foreign, malformed and deleted conversations are answered alike.
func TestConversationsThatAreNotThere(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	path := c.conversation("")
	item := idOf(c.post(path, user("x")).data()[0])
	gone := c.conversation("")
	c.do("DELETE", gone, "").object()
	unknown := "/v1/conversations/conv_" + strings.Repeat("0", 32)
	for _, x := range []struct{ method, below, body string }{
		{"GET", "", ""}, {"POST", "", `{"metadata":{}}`}, {"POST", "", `{"metadata":5}`}, {"DELETE", "", ""},
		{"GET", "/items", ""}, {"GET", "/items?after=nothing", ""}, {"POST", "/items", `{"items":[` + user("x") + `]}`}, {"POST", "/items", `{`},
		{"GET", "/items/" + item, ""}, {"DELETE", "/items/" + item, ""},
	} {
		want := c.do(x.method, unknown+x.below, x.body)
		want.refused(404, "session_not_found", "conversation_id")
		for who, p := range map[string]string{"stranger": path, "me": gone, "any": "/v1/conversations/nothing"} {
			got := c.do(x.method, p+x.below, x.body, "As", who)
			id := p[strings.LastIndexByte(p, '/')+1:]
			if got.status != 404 || !bytes.Equal(bytes.ReplaceAll(got.body, []byte(id), nil), bytes.ReplaceAll(want.body, []byte("conv_"+strings.Repeat("0", 32)), nil)) {
				t.Errorf("%s %s%s: %d %s, want %s", x.method, p, x.below, got.status, got.body, want.body)
			}
		}
	}
	for _, bad := range []string{"item_" + strings.Repeat("0", 31) + "1", "item_x", "x", "item_" + strings.Repeat("0", 32)} {
		c.do("GET", path+"/items/"+bad, "").refused(404, "item_not_found", "item_id")
		c.do("DELETE", path+"/items/"+bad, "").refused(404, "item_not_found", "item_id")
		c.do("GET", path+"/items?after="+bad, "").refused(400, "invalid_request", "after")
	}
	if len(c.do("GET", path+"/items", "").data()) != 1 {
		t.Error("something was changed")
	}
}

var anyItemID = regexp.MustCompile(`item_[0-9a-f]{32}`)

// every is one item of each kind, and messages of each role and part.
var every = []string{
	user("hi"), `{"type":"message","role":"user","status":"completed","id":"msg_theirs","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://example.com/x.png"},{"type":"input_image","file_id":"file-1","detail":"low"},{"type":"input_file","filename":"a.txt","file_data":"aGVsbG8="},{"type":"input_file","file_url":"https://example.com/b.pdf","filename":"b.pdf"},{"type":"computer_screenshot","image_url":"https://example.com/s.png"}]}`,
	`{"role":"assistant","content":"plain"}`,
	`{"role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"cited","annotations":[{"type":"url_citation","url":"https://x","title":"t","start_index":0,"end_index":1}]},{"type":"refusal","refusal":"no"},{"type":"text","text":"t"},{"type":"summary_text","text":"s"},{"type":"reasoning_text","text":"r"}]}`,
	`{"role":"developer","content":"be brief"}`, `{"role":"system","content":[{"type":"input_text","text":"be kind"}]}`,
	`{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1}"}`, `{"type":"function_call_output","call_id":"c1","output":"42"}`,
	`{"type":"custom_tool_call","call_id":"c2","name":"g","input":"raw"}`, `{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"43"}]}`,
	`{"type":"mcp_call","server_label":"docs","name":"find","arguments":"{}","output":"found","error":null,"approval_request_id":null}`,
	`{"type":"mcp_list_tools","server_label":"docs","tools":[]}`, `{"type":"mcp_approval_request","server_label":"docs","name":"rm","arguments":"{}"}`,
	`{"type":"mcp_approval_response","approval_request_id":"a1","approve":false,"reason":"no"}`,
	`{"type":"web_search_call","action":{"type":"search","query":"q"},"status":"completed"}`, `{"type":"file_search_call","queries":["q"],"results":null}`,
	`{"type":"computer_call","call_id":"c3","action":{"type":"click","x":1,"y":2,"button":"left"}}`,
	`{"type":"computer_call_output","call_id":"c3","output":{"type":"computer_screenshot","image_url":"data:,"}}`,
	`{"type":"code_interpreter_call","container_id":"k","code":"1+1"}`, `{"type":"image_generation_call","result":"AA=="}`,
	`{"type":"local_shell_call","call_id":"c4","action":{"type":"exec","command":["ls"],"env":{}}}`, `{"type":"local_shell_call_output","output":"x"}`,
	`{"type":"shell_call","call_id":"c5","action":{"commands":["ls"]}}`, `{"type":"shell_call_output","call_id":"c5","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`,
	`{"type":"apply_patch_call","call_id":"c6","operation":{"type":"delete_file","path":"x"},"status":"completed"}`, `{"type":"apply_patch_call_output","call_id":"c6","status":"failed","output":"bad"}`,
	`{"type":"tool_search_call","arguments":{"q":1}}`, `{"type":"tool_search_output","tools":[]}`,
	`{"type":"program","call_id":"c7","code":"x()","fingerprint":"f"}`, `{"type":"program_output","call_id":"c7","result":"y"}`,
	`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zz","unheard_of":{"kept":[1]}}`,
	`{"type":"compaction","encrypted_content":"zz"}`, `{"type":"additional_tools","role":"developer","tools":[]}`, `{"type":"configuration_update"}`,
}

// What is posted comes back as it is: from the post, from the list in both orders,
// one by one, and unchanged when it is posted again. What the agent is told of it
// is the golden's other half.
func TestEveryItemIsKeptAndTold(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	seen := map[string]bool{}
	path := c.conversation("")
	var golden strings.Builder
	var all []map[string]any
	for part := range slices.Chunk(every, 20) {
		all = append(all, c.post(path, strings.Join(part, ",")).data()...)
	}
	raws := func(a *answer) (out []string) {
		var page struct{ Data []json.RawMessage }
		if err := json.Unmarshal(a.body, &page); err != nil {
			t.Fatal(err)
		}
		for _, raw := range page.Data {
			out = append(out, anyItemID.ReplaceAllString(string(raw), "item_ID"))
		}
		return out
	}
	list := raws(c.do("GET", path+"/items?order=asc&limit=100&include[]=message.input_image.image_url&include=reasoning.encrypted_content", ""))
	back := raws(c.do("GET", path+"/items?limit=100", ""))
	slices.Reverse(back)
	if !slices.Equal(list, back) || len(list) != len(every) {
		t.Errorf("%d items, %d in the other order", len(list), len(back))
	}
	for i, m := range all {
		one := c.do("GET", path+"/items/"+idOf(m), "")
		if anyItemID.ReplaceAllString(string(one.body), "item_ID") != list[i] {
			t.Errorf("%s, in the list %s", one.body, list[i])
		}
		kind, _ := m["type"].(string)
		seen[kind] = true
		again := c.post(path, string(one.body))
		if got := raws(again); len(got) != 1 || got[0] != list[i] {
			t.Errorf("posted again\n%s\nwas\n%s", again.body, list[i])
		}
	}
	for _, kind := range append(openapi.Words(responses.ItemBody{}, "type"), "message") {
		if !seen[kind] && kind != "item_reference" {
			t.Errorf("no sample of %s", kind)
		}
	}
	e.mu.Lock()
	for _, s := range e.sessions {
		for i, it := range s.items()[:len(every)] {
			fmt.Fprintf(&golden, "< %s\n> %s\n", every[i], list[i])
			if it.Item.Instructs {
				fmt.Fprintf(&golden, "  instructs: %q\n\n", it.Item.Text)
			} else {
				fmt.Fprintf(&golden, "  is told: %q\n\n", it.Item.Text)
			}
		}
	}
	e.mu.Unlock()
	const file = "testdata/posted_items.txt"
	if *update {
		if err := os.WriteFile(file, []byte(golden.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || golden.String() != string(want) {
		t.Errorf("%s is not what is done now (%v); see the difference after -update", file, err)
	}
}

func TestItemsThatCannotBePostedAreRefusedByPlace(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	path := c.conversation("")
	ok := user("x") + "," + user("y") + "," + user("z") + ","
	many := strings.TrimSuffix(strings.Repeat(user("x")+",", 21), ",")
	for _, x := range []struct{ name, body, code, param string }{
		{"nothing", ``, "invalid_request", ""},
		{"no items", `{}`, "invalid_request", "items"},
		{"null", `{"items":null}`, "invalid_request", "items"},
		{"an object", `{"items":{}}`, "invalid_request", "items"},
		{"none", `{"items":[]}`, "invalid_request", "items"},
		{"too many", `{"items":[` + many + `]}`, "invalid_request", "items"},
		{"a text", `{"items":["x"]}`, "invalid_request", "items[0]"},
		{"an empty object", `{"items":[` + ok + `{}]}`, "invalid_request", "items[3].type"},
		{"an unknown type", `{"items":[` + ok + `{"type":"hologram"}]}`, "invalid_request", "items[3].type"},
		{"a trigger", `{"items":[{"type":"compaction_trigger"}]}`, "invalid_request", "items[0].type"},
		{"a type of a wrong kind", `{"items":[{"type":5}]}`, "invalid_request", "items[0].type"},
		{"an unknown role", `{"items":[{"role":"tool","content":"x"}]}`, "invalid_request", "items[0].role"},
		{"no role", `{"items":[{"type":"message","content":"x"}]}`, "invalid_request", "items[0].role"},
		{"an unknown status", `{"items":[{"role":"user","content":"x","status":"odd"}]}`, "invalid_request", "items[0].status"},
		{"content of a wrong kind", `{"items":[{"role":"user","content":5}]}`, "invalid_request", "items[0].content"},
		{"an unknown part", `{"items":[` + ok + `{"role":"user","content":[{"type":"hologram"}]}]}`, "invalid_request", "items[3].content[0].type"},
		{"a part without a type", `{"items":[{"role":"user","content":[{"text":"x"}]}]}`, "invalid_request", "items[0].content[0].type"},
		{"a part that is none", `{"items":[{"role":"user","content":["x"]}]}`, "invalid_request", "items[0].content[0]"},
		{"a text without text", `{"items":[{"role":"user","content":[{"type":"input_text"}]}]}`, "invalid_request", "items[0].content[0].text"},
		{"a picture of nothing", `{"items":[{"role":"user","content":[{"type":"input_image"}]}]}`, "invalid_request", "items[0].content[0]"},
		{"a file of nothing", `{"items":[{"role":"user","content":[{"type":"input_file"}]}]}`, "invalid_request", "items[0].content[0]"},
		{"a file that is no base64", `{"items":[{"role":"user","content":[{"type":"input_file","file_data":"***"}]}]}`, "invalid_request", "items[0].content[0]"},
		{"a call without a name", `{"items":[{"type":"function_call","call_id":"c","arguments":"{}"}]}`, "invalid_request", "items[0].name"},
		{"arguments that are no text", `{"items":[{"type":"function_call","call_id":"c","name":"f","arguments":{}}]}`, "invalid_request", "items[0].arguments"},
		{"an approval that says nothing", `{"items":[{"type":"mcp_approval_response","approval_request_id":"a"}]}`, "invalid_request", "items[0].approve"},
		{"an action that is none", `{"items":[{"type":"web_search_call","action":"x"}]}`, "invalid_request", "items[0].action"},
		{"a large item", `{"items":[` + user(strings.Repeat("x", 5<<20)) + `]}`, "invalid_request", "items[0]"},
	} {
		c.do("POST", path+"/items", x.body).refused(400, x.code, x.param)
		if x.name != "nothing" && x.name != "none" && x.name != "no items" && x.name != "null" {
			c.do("POST", "/v1/conversations", x.body).refused(400, x.code, x.param)
		}
	}
	for name, ref := range map[string]string{
		"malformed": `{"type":"item_reference","id":"msg_1"}`, "unknown": `{"type":"item_reference","id":"item_` + strings.Repeat("1", 32) + `"}`, "without a type": `{"id":"item_` + strings.Repeat("1", 32) + `"}`,
	} {
		t.Log(name)
		c.post(path, ok+ref).refused(404, "item_not_found", "items[3].id")
	}
	c.post(path, `{"role":"user","content":[{"type":"input_file","file_id":"file-`+strings.Repeat("1", 32)+`"}]}`).refused(404, "file_not_found", "items[0].content[0]")
	c.do("GET", path+"/items?include=everything", "").refused(400, "invalid_request", "include")
	c.do("GET", path+"/items?limit=0", "").refused(400, "invalid_request", "limit")
	c.do("POST", path, `{}`).refused(400, "invalid_request", "metadata")
	c.do("POST", path, `{"metadata":{"a":5}}`).refused(400, "invalid_request", "metadata")
	c.do("POST", "/v1/conversations", `{"metadata":{"a":"`+strings.Repeat("x", 513)+`"}}`).refused(400, "invalid_request", "metadata.a")
	if n := len(c.do("GET", path+"/items", "").data()); n != 0 {
		t.Errorf("%d items were posted", n)
	}
}

// A reference stands for the item it names: a copy where items are kept, something
// said before where a response is asked for.
func TestReferencesAreResolved(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	there, here := c.conversation(""), c.conversation("")
	word := idOf(c.post(there, user("the word is heron")).data()[0])
	rule := idOf(c.post(there, `{"role":"developer","content":"be brief"}`).data()[0])
	copied := c.post(here, `{"type":"item_reference","id":"`+word+`"}`).data()
	if idOf(copied[0]) == word || !strings.Contains(fmt.Sprint(copied[0]), "heron") {
		t.Errorf("%v", copied)
	}
	c.create(`{"model":"codex","input":[{"type":"item_reference","id":"` + word + `"},{"type":"item_reference","id":"` + rule + `"},{"role":"user","content":"which?"}]}`).object()
	if got := c.lastInput(); got != "Earlier in this conversation:\n\nuser: the word is heron\n\nThe user's message now:\n\nwhich?" {
		t.Errorf("prompt %q", got)
	}
	if o := e.inputs[0].Overrides; o == nil || o.Instructions == nil || *o.Instructions != "be brief" {
		t.Errorf("overrides %+v", o)
	}
	c.do("POST", "/v1/responses", `{"model":"codex","input":[{"type":"item_reference","id":"`+word+`"},{"role":"user","content":"x"}]}`, "As", "stranger").refused(404, "item_not_found", "input[0].id")
	c.create(`{"model":"codex","input":[{"type":"item_reference","id":"x"},{"role":"user","content":"x"}]}`).refused(404, "item_not_found", "input[0].id")
}

// What files hold is told where it can be read and is short.
func TestFilesInPostedMessages(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	path := c.conversation("")
	short, image := e.Put("me", "short.txt", []byte("brief")), e.Put("me", "x.png", []byte(png))
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 20<<10)))
	huge := e.Put("me", "huge.txt", []byte(strings.Repeat("x", 300<<10)))
	c.post(path, `{"role":"user","content":[{"type":"input_file","file_id":"`+short+`"},{"type":"input_file","filename":"long.txt","file_data":"`+long+`"},`+
		`{"type":"input_file","file_id":"`+image+`"},{"type":"input_file","file_id":"`+huge+`"},{"type":"input_file","file_url":"https://x/y.pdf"}]}`).object()
	items := func() string {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, s := range e.sessions {
			return s.items()[0].Item.Text
		}
		return ""
	}()
	want := "user: --- file: short.txt ---\nbrief\n--- end of file: short.txt ---\n[file long.txt, left out]\n[file " + image + ", not read]\n[file " + huge + ", not read]\n[file, not read]"
	if items != want || e.Open() != 0 {
		t.Errorf("is told %q, want %q; %d files open", items, want, e.Open())
	}
}

// A page of large items is cut, and says so.
func TestAPageIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	path := c.conversation("")
	for range 4 {
		c.post(path, user(strings.Repeat("x", 3<<20))).object()
	}
	n, after, pages := 0, "", 0
	for {
		a := c.do("GET", path+"/items?limit=100"+after, "")
		if len(a.body) > 9<<20 {
			t.Errorf("a page of %d bytes", len(a.body))
		}
		list := a.data()
		n, pages = n+len(list), pages+1
		if a.object()["has_more"] != true {
			break
		}
		after = "&after=" + idOf(list[len(list)-1])
	}
	if n != 4 || pages != 2 {
		t.Errorf("%d items on %d pages", n, pages)
	}
}

func TestRepeatedPostsPostOnce(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	one := c.do("POST", "/v1/conversations", `{"metadata":{"a":"b"}}`, "Idempotency-Key", "k1")
	if two := c.do("POST", "/v1/conversations", `{"metadata":{"a":"b"}}`, "Idempotency-Key", "k1"); !bytes.Equal(one.body, two.body) {
		t.Errorf("%s, then %s", one.body, two.body)
	}
	path := "/v1/conversations/" + one.id()
	a, b := c.post(path, user("x"), "Idempotency-Key", "k2"), c.post(path, user("x"), "Idempotency-Key", "k2")
	if !bytes.Equal(a.body, b.body) || len(c.do("GET", path+"/items", "").data()) != 1 {
		t.Errorf("%s, then %s", a.body, b.body)
	}
	c.post(path, user("y"), "Idempotency-Key", "k2").refused(409, "idempotency.mismatch", "")
}

// The first response brings the agent; each tells its conversation, and its items
// stand among the posted ones.
func TestResponsesInAConversation(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("said"))
	c := newClient(t, e)
	path := c.conversation(`{"items":[` + user("before") + `]}`)
	id := path[strings.LastIndexByte(path, '/')+1:]
	for i, name := range []string{`"` + id + `"`, `{"id":"` + strings.Replace(id, "conv_", "agsess_", 1) + `"}`} {
		o := c.create(`{"model":"codex","input":"ask","conversation":` + name + `}`).object()
		if fmt.Sprint(o["conversation"]) != "map[id:"+id+"]" || o["model"] != "codex" || o["status"] != "completed" {
			t.Errorf("%v", o)
		}
		if in := e.inputs[i]; (in.Agent != nil) != (i == 0) || in.Agent != nil && in.Agent.Adapter != "codex" {
			t.Errorf("input %d brings %+v", i, in.Agent)
		}
	}
	c.create(`{"model":"claude-code","input":"ask","conversation":"`+id+`"}`).refused(400, "invalid_request", "model")
	c.create(`{"model":"nobody","input":"x","conversation":"`+c.conversation("")[len("/v1/conversations/"):]+`"}`).refused(404, "model_not_found", "model")
	streamed := c.create(`{"input":"ask","stream":true,"conversation":"` + id + `"}`)
	if n := bytes.Count(streamed.body, []byte(`"conversation":{"id":"`+id+`"}`)); n < 3 {
		t.Errorf("%d times its conversation in %s", n, streamed.body)
	}
	var texts []string
	for _, m := range c.do("GET", path+"/items?order=asc", "").data() {
		texts = append(texts, fmt.Sprint(m["role"]))
	}
	if got := strings.Join(texts, " "); got != "user user assistant user assistant user assistant" {
		t.Errorf("items of %s", got)
	}
}

func TestAnItemIsDeleted(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, untilCancelled))
	path := c.conversation("")
	list := c.post(path, user("x")+","+user("y")).data()
	a := c.do("DELETE", path+"/items/"+idOf(list[1]), "")
	if got := c.do("GET", path, ""); !bytes.Equal(a.body, got.body) {
		t.Errorf("%s, want %s", a.body, got.body)
	}
	c.do("GET", path+"/items/"+idOf(list[1]), "").refused(404, "item_not_found", "item_id")
	c.do("DELETE", path+"/items/"+idOf(list[1]), "").refused(404, "item_not_found", "item_id")
	r := c.create(`{"model":"codex","input":"ask","background":true,"conversation":"` + path[len("/v1/conversations/"):] + `"}`)
	items := c.do("GET", path+"/items", "").data()
	if len(items) != 2 {
		t.Fatalf("%v", items)
	}
	c.do("DELETE", path+"/items/"+idOf(items[0]), "").refused(409, "agents.item_in_use", "item_id")
	c.do("POST", "/v1/responses/"+r.id()+"/cancel", "").object()
}
