package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

const (
	oslo = `[[mcp: agenthost get_weather {"city":"Oslo"}]]`
	rome = `[[mcp: agenthost get_weather {"city":"Rome"}]]`
	noon = `[[mcp: agenthost get_time {"city":"Rome"}]]`
)

func functions() (list []any) {
	for _, name := range []string{"get_weather", "get_time"} {
		list = append(list, object{"type": "function", "name": name, "description": "Tells of a city.", "parameters": object{
			"type": "object", "properties": object{"city": object{"type": "string"}}, "required": []string{"city"},
		}})
	}
	return list
}

// calling is a session whose agent may call the functions.
func calling(model string) string {
	return whole(sessions.New(ctx, with[openai.BetaAgentSessionNewParams](object{
		"environment": object{"type": "self_hosted"}, "agent": object{"model": model, "tools": functions()},
	}))).ID
}

func sunny(_ context.Context, args map[string]any) (any, error) {
	city, _ := args["city"].(string)
	return "sunny in " + city, nil
}

type handlers = map[string]openai.AgentToolHandler

// handled is the text that a turn ends with.
func handled(session, input string, tools handlers) string {
	stream := sessions.Stream(ctx, session, openai.AgentSessionStreamParams{Input: input, ToolHandlers: tools}).WithResultCollection()
	for stream.Next() {
		whole(stream.Current(), nil)
	}
	ok(stream.Err())
	return must(stream.FinalResult()).OutputText()
}

func itemsOf(session, kind string) (list []openai.AgentSessionItemUnion) {
	for p := sessions.Items.ListAutoPaging(ctx, session, openai.BetaAgentSessionItemListParams{Order: "asc"}); p.Next(); {
		if it := whole(p.Current(), nil); it.Type == kind {
			list = append(list, it)
		}
	}
	return list
}

// realCases are played where the agents are the real CLIs; the twin of handlers.py.
var realCases = map[string]func(){
	"handlers": func() {
		id := calling("codex")
		told := handled(id, oslo+" [[and]] "+noon+" "+rome, handlers{"get_weather": sunny, "get_time": func(context.Context, map[string]any) (any, error) {
			return map[string]any{"hour": 12}, nil
		}})
		said := strings.Split(strings.TrimPrefix(told, "The tool returned: "), "\n")
		slices.Sort(said[:2]) // of the parallel ones, either comes first
		eq(said, []string{"sunny in Oslo", `{"hour":12}`, "sunny in Rome"})
	},
	"handler_that_fails": func() {
		id := calling("codex")
		has(handled(id, oslo, handlers{"get_weather": func(context.Context, map[string]any) (any, error) { return nil, errors.New("a secret") }}), "Tool handler failed.")
		answer := itemsOf(id, "function_call_output")[0].AsFunctionCallOutput()
		eq([]string{string(answer.Status), answer.Error}, []string{"failed", "Tool handler failed."})
	},
	"handlers_of_a_created_stream": func() {
		agent := whole(agents.New(ctx, with[openai.BetaAgentNewParams](object{"model": "claude-code", "tools": functions()})))
		p := openai.BetaAgentSessionNewParams{Environment: workspace, AgentID: openai.String(agent.ID), ToolHandlers: handlers{"get_weather": sunny}}
		p.Input.OfString = openai.String(oslo)
		result := must(openai.BetaAgentSessionFinalResult(sessions.NewStreaming(ctx, p)))
		eq(result.OutputText(), "The tool returned: sunny in Oslo")
		whole(agents.Delete(ctx, agent.ID))
	},
	"without_a_handler": func() {
		id := calling("codex")
		_, err := sessions.Stream(ctx, id, openai.AgentSessionStreamParams{Input: oslo, ToolHandlers: handlers{"get_time": sunny}}).FinalResult()
		var waits *openai.BetaAgentTurnResultError
		if !errors.As(err, &waits) || waits.Reason != "requires_action" || len(waits.RequiredActions) != 1 {
			fail("a turn that waits ended: %v", err)
		}
		asked := waits.RequiredActions[0].AsFunctionCall()
		eq([]string{asked.Name, string(whole(sessions.Get(ctx, id)).Status)}, []string{"get_weather", "requires_action"})
		answer := func(more object) func(openai.Client) error {
			return func(c openai.Client) error {
				call := asked.CallID
				if more["call_id"] != nil {
					call = "call_" + zero
				}
				return c.Beta.Agents.Sessions.Events.New(ctx, id, inputs(toolResult(call, asked.TurnID, more)))
			}
		}
		refused(404, "tool_call_not_found", "unknown_call", answer(object{"call_id": 1, "success": true, "output": "x"}))
		refused(400, "", "no_success", answer(object{"output": "x"}))
		refused(404, "session_not_found", "foreign_call", answer(object{"success": true, "output": "x"}), option.WithAPIKey(os.Getenv("OTHER_API_KEY")))
		ok(answer(object{"success": true, "output": "fog"})(client))
		idle(id)
		refused(409, "tool_call_already_answered", "answered_twice", answer(object{"success": true, "output": "x"}))
		messages := itemsOf(id, "message")
		eq(messages[len(messages)-1].AsMessage().Content[0].Text, "The tool returned: fog")
	},
	"responses_with_functions": func() {
		s := client.Responses.NewStreaming(ctx, with[responses.ResponseNewParams](object{"model": "codex", "input": oslo, "tools": functions()}))
		var arguments string
		var first responses.Response
		for s.Next() {
			switch e := whole(s.Current(), nil).AsAny().(type) {
			case responses.ResponseFunctionCallArgumentsDeltaEvent:
				arguments += e.Delta
			case responses.ResponseFunctionCallArgumentsDoneEvent:
				eq(e.Arguments, arguments)
			case responses.ResponseCompletedEvent:
				first = e.Response
			}
		}
		ok(s.Err())
		call := first.Output[len(first.Output)-1].AsFunctionCall()
		eq([]string{call.Name, call.Arguments}, []string{"get_weather", arguments})
		again := output(first.ID, "codex", call.CallID)
		last := whole(client.Responses.New(ctx, again))
		eq([]string{last.OutputText(), last.PreviousResponseID}, []string{"The tool returned: hail", first.ID})
		refused(409, "tool_call_already_answered", "response_answered_twice", func(c openai.Client) error { return only(c.Responses.New(ctx, again)) })
	},
	"approvals": func() {
		id := whole(sessions.New(ctx, openai.BetaAgentSessionNewParams{Environment: workspace, Agent: openai.BetaAgentSessionNewParamsAgent{Model: openai.String("careful")}})).ID
		stream := sessions.Events.StreamStreaming(ctx, id)
		defer func() { _ = stream.Close() }()
		ok(sessions.Events.New(ctx, id, inputs(message("[[write: a.txt text]] [[say: done]]"))))
		for stream.Next() {
			e := stream.Current() // of required actions this SDK's union has no approvals
			if e.Type == "agent.session.requires_action" {
				asked := e.AsAgentSessionRequiresAction().Session.RequiredActions[0]
				ok(sessions.Events.New(ctx, id, inputs(with[openai.AgentSessionInputParamUnion](object{
					"type": "agent.session.input.mcp_approval_request_result", "request_id": asked.RequestID, "response": object{"type": "mcp_tool_call", "decision": "approve"},
				}))))
			}
			if e.Type == "agent.session.idle" {
				break
			}
		}
		ok(stream.Err())
		artifacts := &sessions.Artifacts
		made := ids(artifacts.ListAutoPaging(ctx, id, openai.BetaAgentSessionArtifactListParams{Limit: openai.Int(1)}), func(a openai.SessionArtifact) string { return a.ID })
		eq(len(made), 1)
		eq(whole(artifacts.Get(ctx, id, made[0])).Path, "/workspace/a.txt")
		r := must(artifacts.Content(ctx, id, made[0]))
		defer func() { _ = r.Body.Close() }()
		eq(strings.TrimSpace(string(must(io.ReadAll(r.Body)))), "text")
		eq(whole(artifacts.Delete(ctx, id, made[0])).Deleted, true)
		refused(404, "artifact_not_found", "artifact_deleted", func(c openai.Client) error { return only(c.Beta.Agents.Sessions.Artifacts.Get(ctx, id, made[0])) })
	},
	"subagents": func() {
		p := openai.BetaAgentSessionNewParams{Environment: workspace, Agent: openai.BetaAgentSessionNewParamsAgent{Model: openai.String("claude-code")}}
		p.Input.OfString = openai.String("[[task: Look. [[shell: echo from a subagent]] [[say: child is done]]]] [[say: parent is done]]")
		result := must(openai.BetaAgentSessionFinalResult(sessions.NewStreaming(ctx, p)))
		has(result.OutputText(), "parent is done")
		id, subagents := result.SessionID(), &sessions.Subagents
		list := whole(subagents.List(ctx, id, openai.BetaAgentSessionSubagentListParams{})).Data
		eq(len(list), 1)
		s := list[0].ID
		eq(whole(subagents.Get(ctx, id, s)).RawJSON(), list[0].RawJSON())
		turns := whole(subagents.Turns.List(ctx, id, s, openai.BetaAgentSessionSubagentTurnListParams{})).Data
		eq([]any{len(turns), turns[0].SubagentID}, []any{1, s})
		eq(whole(subagents.Turns.Get(ctx, id, s, turns[0].ID)).RawJSON(), turns[0].RawJSON())
		did := ids(subagents.Items.ListAutoPaging(ctx, id, s, openai.BetaAgentSessionSubagentItemListParams{Order: "asc"}), itemID)
		eq(len(did), 3)
		eq(ids(subagents.Turns.Items.ListAutoPaging(ctx, id, s, turns[0].ID, openai.BetaAgentSessionSubagentTurnItemListParams{Order: "asc", Limit: openai.Int(1)}), itemID), did)
	},
}
