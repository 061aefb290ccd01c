package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
)

var (
	agents   = &client.Beta.Agents
	sessions = &agents.Sessions
	none     = openai.EnvironmentParamUnion{OfParamNone: &openai.EnvironmentParamNone{}}
)

func newSession(text string) openai.BetaAgentSessionNewParams {
	return openai.BetaAgentSessionNewParams{
		Environment: none, Agent: openai.BetaAgentSessionNewParamsAgent{Model: openai.String("codex")},
		Input: openai.BetaAgentSessionNewParamsInputUnion{OfString: openai.String(text)},
	}
}

func message(text string) openai.AgentSessionInputParamUnion {
	return param.Override[openai.AgentSessionInputParamUnion](map[string]any{
		"type": "agent.session.input.message", "input": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}}}},
	})
}

func inputs(list ...openai.AgentSessionInputParamUnion) openai.BetaAgentSessionEventNewParams {
	return openai.BetaAgentSessionEventNewParams{Events: list}
}

func idle(id string) *openai.AgentSession {
	var s *openai.AgentSession
	until(func() bool {
		s = whole(sessions.Get(ctx, id))
		return s.Status == "idle"
	})
	return s
}

// sessionWith is a session whose turns are done.
func sessionWith(prompts ...string) *openai.AgentSession {
	s := whole(sessions.New(ctx, newSession(prompts[0])))
	for _, p := range prompts[1:] {
		ok(sessions.Events.New(ctx, s.ID, inputs(message(p))))
	}
	return idle(s.ID)
}

// follow reads a session's stream to the end of a turn and the idle behind it, or to
// the end, each event checked.
func follow(s *ssestream.Stream[openai.AgentSessionEventUnion]) (events []openai.AgentSessionEventUnion) {
	defer func() { _ = s.Close() }()
	ids, ended := map[string]bool{}, false
	for s.Next() {
		e := whole(s.Current(), nil)
		if e.EventID == "" || ids[e.EventID] {
			fail("event id %q again", e.EventID)
		}
		ids[e.EventID] = true
		events = append(events, e)
		ended = ended || slices.Contains([]string{"agent.session.turn.completed", "agent.session.turn.failed", "agent.session.turn.cancelled"}, e.Type)
		if ended && e.Type == "agent.session.idle" {
			return events
		}
	}
	ok(s.Err())
	return events
}

var _ = add(map[string]func(){
	"agents_crud": func() {
		name := fmt.Sprintf("go-%d-crud", os.Getpid())
		a := whole(agents.New(ctx, openai.BetaAgentNewParams{Model: "codex", Name: openai.String(name), Instructions: openai.String("Be kind."), Metadata: map[string]string{"k": "v"}}))
		eq([]string{a.Instructions, a.Metadata["k"]}, []string{"Be kind.", "v"})
		eq(whole(agents.Get(ctx, a.ID)).RawJSON(), a.RawJSON())
		b := whole(agents.Update(ctx, a.ID, openai.BetaAgentUpdateParams{Instructions: openai.String("Be brief.")}))
		eq([]string{b.ID, b.Instructions, b.Name}, []string{a.ID, "Be brief.", name})
		found := 0
		for pages := agents.ListAutoPaging(ctx, openai.BetaAgentListParams{Limit: openai.Int(2)}); pages.Next(); {
			if whole(pages.Current(), nil).ID == a.ID {
				found++
			}
		}
		eq(found, 1)
		eq(whole(agents.Delete(ctx, a.ID)).Deleted, true)
		refused(404, "", "agent_deleted", func(c openai.Client) error { _, err := c.Beta.Agents.Get(ctx, a.ID); return err })
	},
	"sessions_create_stream": func() {
		events := follow(sessions.NewStreaming(ctx, newSession("[[shell: echo hi; exit 3]] [[say: done]]")))
		n := len(events)
		eq([]string{events[0].Type, events[n-2].Type, events[n-1].Type}, []string{"agent.session.created", "agent.session.turn.completed", "agent.session.idle"})
		var kinds []string
		for _, e := range events {
			if e.Type != "agent.session.turn.item.done" {
				continue
			}
			it := e.AsAgentSessionTurnItemDone().Item
			kinds = append(kinds, it.Type)
			if it.Type == "command_execution" {
				run := it.AsCommandExecution()
				has(run.Command, "echo hi; exit 3")
				eq([]any{run.Output, run.ExitCode, string(run.Status)}, []any{"hi\n", int64(3), "failed"})
			}
		}
		eq(kinds, []string{"command_execution", "message"})
		result := must(openai.BetaAgentSessionFinalResult(sessions.NewStreaming(ctx, newSession("[[say: at once]]"))))
		eq(result.OutputText(), "at once")
	},
	"sessions_stream_helper": func() {
		s := sessionWith("Please remember the word heron.")
		stream := sessions.Stream(ctx, s.ID, openai.AgentSessionStreamParams{Input: "[[think: hm]] [[say: I look.]] [[shell: echo hi]] [[count: 5]]"})
		result := must(stream.FinalResult())
		eq([]string{result.OutputText(), string(result.Turn.Status), result.SessionID()}, []string{"1 2 3 4 5", "completed", s.ID})
		stream = sessions.Stream(ctx, s.ID, openai.AgentSessionStreamParams{Input: "What did I ask you to remember?"}).WithResultCollection()
		var last string
		for stream.Next() {
			last = whole(stream.Current(), nil).Type
		}
		ok(stream.Err())
		eq(last, "agent.session.idle")
		has(must(stream.FinalResult()).OutputText(), "heron")
	},
	"sessions_stream_helper_failed_turn": func() {
		s := sessionWith("hello")
		_, err := sessions.Stream(ctx, s.ID, openai.AgentSessionStreamParams{Input: "[[error: 401]]"}).FinalResult()
		var failed *openai.BetaAgentTurnResultError
		if !errors.As(err, &failed) {
			fail("a failed turn has a result: %v", err)
		}
		eq([]string{string(failed.Turn.Status), string(failed.Turn.Error.Code)}, []string{"failed", "authentication_error"})
	},
	"events_create_and_stream": func() {
		s := sessionWith("hello")
		stream := sessions.Events.StreamStreaming(ctx, s.ID)
		ok(stream.Err())
		ok(sessions.Events.New(ctx, s.ID, inputs(message("[[count: 9]]"))))
		events := follow(stream)
		eq(events[0].Type, "agent.session.in_progress")
		text := ""
		for _, e := range events {
			if e.Type == "agent.session.turn.output_text.delta" {
				text += e.AsAgentSessionTurnOutputTextDelta().Delta
			}
		}
		eq(text, "1 2 3 4 5 6 7 8 9")
	},
	"events_cancel": func() {
		s := sessionWith("hello")
		stream := sessions.Stream(ctx, s.ID, openai.AgentSessionStreamParams{Input: "[[shell: sleep 60]]"}).WithResultCollection()
		for stream.Next() {
			if e := whole(stream.Current(), nil); e.Type == "agent.session.turn.item.added" && e.AsAgentSessionTurnItemAdded().Item.Type == "command_execution" {
				ok(sessions.Events.New(ctx, s.ID, inputs(openai.AgentSessionInputParamUnion{OfParamAgentSessionInputCancel: &openai.AgentSessionInputParamAgentSessionInputCancel{}})))
			}
		}
		_, err := stream.FinalResult()
		var failed *openai.BetaAgentTurnResultError
		if !errors.As(err, &failed) {
			fail("a cancelled turn has a result: %v", err)
		}
		eq(string(failed.Turn.Status), "cancelled")
	},
	"items_and_turns": func() {
		s := sessionWith("[[say: one]]", "[[shell: echo hi]] [[say: two]]", "[[think: hm]] [[say: three]]")
		var up, ids []string
		for pages := sessions.Items.ListAutoPaging(ctx, s.ID, openai.BetaAgentSessionItemListParams{Limit: openai.Int(2), Order: "asc"}); pages.Next(); {
			it := whole(pages.Current(), nil)
			up, ids = append(up, it.Type), append(ids, it.ID)
		}
		eq(up, []string{"message", "message", "message", "command_execution", "message", "message", "reasoning", "message"})
		turns := whole(sessions.Turns.List(ctx, s.ID, openai.BetaAgentSessionTurnListParams{Order: "asc"})).Data
		eq(len(turns), 3)
		eq(whole(sessions.Turns.Get(ctx, s.ID, turns[1].ID)).RawJSON(), turns[1].RawJSON())
		var of []string
		for pages := sessions.Turns.Items.ListAutoPaging(ctx, s.ID, turns[1].ID, openai.BetaAgentSessionTurnItemListParams{Limit: openai.Int(1), Order: "asc"}); pages.Next(); {
			of = append(of, whole(pages.Current(), nil).ID)
		}
		eq(of, ids[2:5])
	},
	"sessions_list_update_delete": func() {
		team := map[string]string{"team": fmt.Sprintf("go %d", os.Getpid())}
		var made []string
		for range 3 {
			p := newSession("x")
			p.Metadata = team
			made = append(made, whole(sessions.New(ctx, p)).ID)
		}
		var mine []string
		for pages := sessions.ListAutoPaging(ctx, openai.BetaAgentSessionListParams{Metadata: &team, Limit: openai.Int(2), Order: "asc"}); pages.Next(); {
			mine = append(mine, whole(pages.Current(), nil).ID)
		}
		eq(mine, made)
		eq(whole(sessions.Update(ctx, made[0], openai.BetaAgentSessionUpdateParams{Metadata: map[string]string{"team": "c"}})).Metadata["team"], "c")
		for _, id := range made {
			eq(whole(sessions.Delete(ctx, id)).Deleted, true)
		}
		refused(404, "", "session_deleted", func(c openai.Client) error { _, err := c.Beta.Agents.Sessions.Get(ctx, made[0]); return err })
	},
	"both_wires_share_ids": func() {
		r := respond(asking("Please remember the word heron."))
		session, turn := "agsess_"+r.Conversation.ID[len("conv_"):], "turn_"+r.ID[len("resp_"):]
		eq(string(whole(sessions.Turns.Get(ctx, session, turn)).Status), "completed")
		result := must(sessions.Stream(ctx, session, openai.AgentSessionStreamParams{Input: "What did I ask you to remember?"}).FinalResult())
		has(result.OutputText(), "heron")
		back := whole(client.Responses.Get(ctx, "resp_"+result.TurnID()[len("turn_"):], responses.ResponseGetParams{}))
		eq(back.OutputText(), result.OutputText())
	},
})
