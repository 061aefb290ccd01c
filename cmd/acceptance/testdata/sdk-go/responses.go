package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

const heard = "I am a scripted model and heard: "

func asking(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "codex", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
}

func respond(p responses.ResponseNewParams, more ...option.RequestOption) *responses.Response {
	return whole(client.Responses.New(ctx, p, more...))
}

// read is a whole stream, or its first events up to most, each checked.
func read(s *ssestream.Stream[responses.ResponseStreamEventUnion], most int) (events []responses.ResponseStreamEventUnion) {
	defer func() { _ = s.Close() }()
	for s.Next() {
		events = append(events, whole(s.Current(), nil))
		if len(events) == most {
			return events
		}
	}
	ok(s.Err())
	return events
}

func types(events []responses.ResponseStreamEventUnion) (list []string) {
	for _, e := range events {
		list = append(list, e.Type)
	}
	return list
}

func raw(events []responses.ResponseStreamEventUnion) (list []string) {
	for _, e := range events {
		list = append(list, e.RawJSON())
	}
	return list
}

func numbered(events []responses.ResponseStreamEventUnion) {
	for i, e := range events {
		eq(e.SequenceNumber, int64(i))
	}
}

func finished(id string) *responses.Response {
	var r *responses.Response
	until(func() bool {
		r = whole(client.Responses.Get(ctx, id, responses.ResponseGetParams{}))
		return r.Status != "queued" && r.Status != "in_progress"
	})
	return r
}

var _ = add(map[string]func(){
	"responses_create_plain": func() {
		r := respond(asking("hello"))
		eq(string(r.Status), "completed")
		eq(r.OutputText(), heard+"hello")
		eq(string(r.Output[len(r.Output)-1].AsMessage().Phase), "final_answer")
		if r.Usage.TotalTokens <= 0 {
			fail("no usage: %s", r.RawJSON())
		}
		eq(whole(client.Responses.Get(ctx, r.ID, responses.ResponseGetParams{})).RawJSON(), r.RawJSON())
	},
	"responses_own_items_as_input": func() {
		r := respond(asking("[[think: hm]] [[say: looking]] [[shell: echo hi]] [[say: done]]"))
		var items responses.ResponseInputParam
		for _, one := range append([]string{`{"role":"user","content":"first"}`}, outputs(r)...) {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(one)))
		}
		items = append(items, responses.ResponseInputItemParamOfMessage("next", responses.EasyInputMessageRoleUser))
		again := respond(responses.ResponseNewParams{Model: "codex", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}})
		for _, part := range []string{"first", "looking", "echo hi", "done", "next"} {
			has(again.OutputText(), part)
		}
	},
	"responses_create_stream": func() {
		events := read(client.Responses.NewStreaming(ctx, asking("[[think: hm]] [[say: looking]] [[shell: echo hi; exit 3]] [[say: a streamed answer]]")), 0)
		numbered(events)
		list := types(events)
		eq([]string{list[0], list[len(list)-1]}, []string{"response.created", "response.completed"})
		var done, kinds []string
		for _, e := range events {
			if e.Type == "response.output_item.done" {
				done, kinds = append(done, e.Item.RawJSON()), append(kinds, e.Item.Type)
			}
		}
		eq(kinds, []string{"reasoning", "message", "mcp_call", "message"})
		last := events[len(events)-1].Response
		eq(done, outputs(&last))
		call := last.Output[2].AsMcpCall()
		eq([]string{call.Name, call.Status, call.Output}, []string{"command_execution", "failed", "hi\n"})
		eq(last.OutputText(), "lookinga streamed answer")
	},
	"responses_background": func() {
		p := asking("[[wait: 300]] [[say: later]]")
		p.Background = openai.Bool(true)
		r := respond(p)
		if !r.Background || len(r.Output) != 0 || r.JSON.Usage.Raw() != "null" || r.Status != "queued" && r.Status != "in_progress" {
			fail("%s", r.RawJSON())
		}
		eq(finished(r.ID).OutputText(), "later")
	},
	"responses_background_stream_resumes_while_it_runs": func() {
		p := asking(strings.Repeat("[[shell: sleep 0.1]]", 8) + " [[count: 40]]")
		p.Background = openai.Bool(true)
		seen := read(client.Responses.NewStreaming(ctx, p), 8)
		id := seen[0].Response.ID
		eq(string(whole(client.Responses.Get(ctx, id, responses.ResponseGetParams{})).Status), "in_progress")
		after := func() responses.ResponseGetParams {
			return responses.ResponseGetParams{StartingAfter: openai.Int(seen[len(seen)-1].SequenceNumber)}
		}
		seen = append(seen, read(client.Responses.GetStreaming(ctx, id, after()), 8)...)
		seen = append(seen, read(client.Responses.GetStreaming(ctx, id, after()), 0)...)
		numbered(seen)
		if seen[len(seen)-1].Type != "response.completed" {
			fail("%v", types(seen))
		}
		eq(len(read(client.Responses.GetStreaming(ctx, id, after()), 0)), 0)
		eq(raw(read(client.Responses.GetStreaming(ctx, id, responses.ResponseGetParams{}), 0)), raw(seen))
	},
	"responses_cancel": func() {
		p := asking("[[shell: sleep 60]]")
		p.Background = openai.Bool(true)
		r := respond(p)
		until(func() bool {
			return whole(client.Responses.Get(ctx, r.ID, responses.ResponseGetParams{})).Status == "in_progress"
		})
		whole(client.Responses.Cancel(ctx, r.ID))
		eq(string(finished(r.ID).Status), "cancelled")
		eq(string(whole(client.Responses.Cancel(ctx, r.ID)).Status), "cancelled")
	},
	"responses_failed_turn": func() {
		r := respond(asking("[[say: so far]] [[error: 500]]"))
		eq([]string{string(r.Status), string(r.Error.Code)}, []string{"failed", "server_error"})
		events := read(client.Responses.NewStreaming(ctx, asking("[[error: 429]]")), 0)
		last := events[len(events)-1]
		eq([]string{last.Type, string(last.Response.Error.Code)}, []string{"response.failed", "rate_limit_exceeded"})
	},
	"responses_delete": func() {
		r := respond(asking("forget me"))
		ok(client.Responses.Delete(ctx, r.ID))
		refused(404, "", "deleted", func(c openai.Client) error {
			_, err := c.Responses.Get(ctx, r.ID, responses.ResponseGetParams{})
			return err
		})
	},
	"responses_input_items": func() {
		r := respond(asking("what I asked"))
		page := must(client.Responses.InputItems.List(ctx, r.ID, responses.InputItemListParams{}))
		eq(len(page.Data), 1)
		// The union has two messages; the SDK's AsAny always takes the assistant's.
		eq(whole(page.Data[0].AsMessage(), nil).Content[0].Text, "what I asked")
	},
	"responses_previous_response_and_conversation": func() {
		a := respond(asking("Please remember the word heron."))
		p := asking("What did I ask you to remember?")
		p.PreviousResponseID = openai.String(a.ID)
		b := respond(p)
		has(b.OutputText(), "heron")
		eq([]string{b.PreviousResponseID, b.Conversation.ID}, []string{a.ID, a.Conversation.ID})
		refused(400, "agents.previous_response_not_latest", "not_latest", func(c openai.Client) error {
			_, err := c.Responses.New(ctx, p)
			return err
		})
		p = asking("What did I ask you to remember?")
		p.Conversation = responses.ResponseNewParamsConversationUnion{OfString: openai.String(a.Conversation.ID)}
		has(respond(p).OutputText(), "heron")
	},
	"responses_not_stored": func() {
		p := asking("x")
		p.Store = openai.Bool(false)
		r := respond(p)
		refused(404, "", "not_stored", func(c openai.Client) error {
			_, err := c.Responses.Get(ctx, r.ID, responses.ResponseGetParams{})
			return err
		})
	},
	"responses_settings_are_given_back": func() {
		schema := map[string]any{"type": "object"}
		p := asking("[[say: {}]]")
		p.Instructions, p.MaxOutputTokens, p.Temperature, p.User = openai.String("Be short."), openai.Int(100), openai.Float(0.5), openai.String("u")
		p.Metadata = shared.Metadata{"k": "v"}
		p.Reasoning = shared.ReasoningParam{Effort: "low"}
		p.Include = []responses.ResponseIncludable{"reasoning.encrypted_content"}
		p.Text = responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigParamOfJSONSchema("n", schema)}
		var answer *http.Response
		r := respond(p, option.WithResponseInto(&answer))
		eq([]any{r.MaxOutputTokens, r.Temperature, r.User, string(r.Reasoning.Effort), r.Metadata["k"]}, []any{int64(100), 0.5, "u", "low", "v"})
		eq(r.Text.Format.AsJSONSchema().Schema, schema)
		eq(answer.Header.Get("X-Agent-Sandbox-Ignored-Params"), "include,max_output_tokens,temperature,user")
	},
	"models": func() {
		names := map[string]bool{}
		for _, m := range whole(client.Models.List(ctx)).Data {
			names[m.ID] = true
		}
		eq(names["codex"], true)
		eq(whole(client.Models.Get(ctx, "codex")).ID, "codex")
	},
})

func outputs(r *responses.Response) (list []string) {
	for _, it := range r.Output {
		list = append(list, it.RawJSON())
	}
	return list
}
