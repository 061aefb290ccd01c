package acceptance

import (
	"strings"
	"testing"
)

// weather is a function that the caller runs.
func weather() map[string]any {
	return map[string]any{
		"type": "function", "name": "get_weather", "description": "The weather of a city.",
		"parameters": map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []string{"city"}},
	}
}

const askWeather = "[[say: I will look.]] [[mcp: agenthost get_weather {\"city\":\"Oslo\"}]]"

// A function of the caller's on the Responses wire: the call ends the response, its
// output begins a further leg of the turn, and the agent sees it.
func TestFunctionCallOnResponses(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		for _, streamed := range []bool{false, true} {
			name := map[bool]string{true: "streamed", false: "whole"}[streamed]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				first := r.respondTo(t, streamed, map[string]any{"model": adapter, "input": askWeather, "tools": []any{weather()}})
				if first["status"] != "completed" {
					t.Fatalf("the first leg: %v", first)
				}
				items, _ := first["output"].([]any)
				if len(items) != 2 || at(items[0], "content", 0, "text") != "I will look." {
					t.Fatalf("output of the first leg: %v", items)
				}
				call, _ := items[1].(map[string]any)
				if call["type"] != "function_call" || call["name"] != "get_weather" || call["arguments"] != `{"city":"Oslo"}` || call["status"] != "completed" {
					t.Fatalf("the call: %v", call)
				}
				if tools, _ := first["tools"].([]any); len(tools) != 1 || at(tools[0], "name") != "get_weather" {
					t.Errorf("tools given back: %v", first["tools"])
				}
				id, _ := first["id"].(string)
				sameJSON(t, "retrieve of the first leg", first, r.http.ok("GET", "/v1/responses/"+id, nil).object)

				answer := map[string]any{"type": "function_call_output", "call_id": call["call_id"], "output": "rain in Oslo"}
				body := map[string]any{"model": adapter, "previous_response_id": id, "input": []any{answer}, "tools": []any{weather()}}
				second := r.respondTo(t, streamed, body)
				completed(t, toldByResponse(t, second), "rain in Oslo")
				if second["id"] == id || second["previous_response_id"] != id || at(second, "conversation", "id") != at(first, "conversation", "id") {
					t.Errorf("the second leg: %v", second)
				}
				again := r.http.do("POST", "/v1/responses", body)
				if again.status != 409 || again.code() != "tool_call_already_answered" || again.str("error", "param") != "input[0].call_id" {
					t.Errorf("a second answer: %d %s", again.status, clip(again.body))
				}
				sameJSON(t, "retrieve of the second leg", second, r.http.ok("GET", "/v1/responses/"+word(second, "id"), nil).object)
				r.verified(t, adapter, "function_tools")
				// The session goes on as any other.
				third := r.respondTo(t, streamed, map[string]any{"model": adapter, "previous_response_id": second["id"], "input": "[[say: and on]]"})
				completed(t, toldByResponse(t, third), "and on")
			})
		}
	})
}

// An output that is sent again with its Idempotency-Key gets the response that it
// began, as SDKs repeat what they had no answer to.
func TestFunctionOutputTakesAKey(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		first := r.respondTo(t, false, map[string]any{"model": adapter, "input": askWeather, "tools": []any{weather()}})
		items, _ := first["output"].([]any)
		answer := func(output string) map[string]any {
			said := map[string]any{"type": "function_call_output", "call_id": at(items[len(items)-1], "call_id"), "output": output}
			return map[string]any{"model": adapter, "previous_response_id": first["id"], "input": []any{said}, "tools": []any{weather()}}
		}
		second := r.http.ok("POST", "/v1/responses", answer("rain"), "Idempotency-Key: one")
		again := r.http.ok("POST", "/v1/responses", answer("rain"), "Idempotency-Key: one")
		sameJSON(t, "the repeated answer", second.object, again.object)
		if other := r.http.do("POST", "/v1/responses", answer("snow"), "Idempotency-Key: one"); other.status != 409 || other.code() != "idempotency.mismatch" {
			t.Errorf("another output with the key: %d %s", other.status, clip(other.body))
		}
		if late := r.http.do("POST", "/v1/responses", answer("rain"), "Idempotency-Key: two"); late.status != 409 || late.code() != "tool_call_already_answered" {
			t.Errorf("the output with another key: %d %s", late.status, clip(late.body))
		}
	})
}

// The same with the whole transcript instead of previous_response_id, as SDKs that
// keep no state send it.
func TestFunctionCallByTranscript(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		ask := map[string]any{"role": "user", "content": askWeather}
		first := r.respondTo(t, false, map[string]any{"model": adapter, "input": []any{ask}, "tools": []any{weather()}})
		items, _ := first["output"].([]any)
		transcript := append([]any{ask}, items...)
		transcript = append(transcript, map[string]any{"type": "function_call_output", "call_id": at(items[len(items)-1], "call_id"), "output": "snow"})
		second := r.respondTo(t, true, map[string]any{"model": adapter, "input": transcript, "tools": []any{weather()}})
		completed(t, toldByResponse(t, second), "snow")
		if at(second, "conversation", "id") != at(first, "conversation", "id") {
			t.Error("the answer began another conversation")
		}
	})
}

// A response that called a function has ended; cancelling it ends the turn behind it,
// and the conversation goes on.
func TestWaitingResponseIsCancelled(t *testing.T) {
	t.Parallel()
	r := newCLIRig(t, "codex", need(t, "codex"))
	first := r.respondTo(t, false, map[string]any{"model": "codex", "input": askWeather, "tools": []any{weather()}})
	more := map[string]any{"model": "codex", "previous_response_id": first["id"], "input": "[[say: on]]"}
	if a := r.http.do("POST", "/v1/responses", more); a.status != 400 || !strings.Contains(a.str("error", "message"), "cancel") {
		t.Errorf("a message while a call waits: %d %s", a.status, clip(a.body))
	}
	cancelled := r.http.ok("POST", "/v1/responses/"+word(first, "id")+"/cancel", nil)
	sameJSON(t, "the response before and after the cancel", first, cancelled.object)
	turn := r.http.ok("GET", "/v1/agents/sessions/agsess_"+strings.TrimPrefix(word(first, "conversation", "id"), "conv_")+"/turns", nil).at("data", 0)
	if word(turn, "status") != "cancelled" {
		t.Errorf("the turn is %s", word(turn, "status"))
	}
	more["previous_response_id"] = nil
	more["conversation"] = at(first, "conversation", "id")
	completed(t, toldByResponse(t, r.respondTo(t, false, more)), "on")
	more["model"] = "claude-code"
	if a := r.http.do("POST", "/v1/responses", more); a.status != 400 || a.str("error", "param") != "model" {
		t.Errorf("another agent in the same conversation: %d %s", a.status, clip(a.body))
	}
	r.Clean(cliTurnLimit)
}

// Somebody else goes on with the transcript: the waiting turn is concluded.
func TestHandoff(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		ask := map[string]any{"role": "user", "content": "[[mcp: agenthost transfer_to_expert {}]] [[say: heron]]"}
		transfer := map[string]any{"type": "function", "name": "transfer_to_expert", "parameters": map[string]any{"type": "object", "properties": map[string]any{}}}
		first := r.respondTo(t, false, map[string]any{"model": adapter, "instructions": "You are the desk.", "input": []any{ask}, "tools": []any{transfer}})
		items, _ := first["output"].([]any)
		transcript := append([]any{ask}, items...)
		transcript = append(transcript, map[string]any{"type": "function_call_output", "call_id": at(items[len(items)-1], "call_id"), "output": `{"assistant":"expert"}`})
		second := r.respondTo(t, false, map[string]any{"model": adapter, "instructions": "You are the expert.", "input": transcript, "tools": []any{weather()}})
		if second["status"] != "completed" || at(second, "conversation", "id") == at(first, "conversation", "id") {
			t.Errorf("the expert's response: %v", second)
		}
		desk := toldBySession(t, r, strings.TrimPrefix(word(first, "conversation", "id"), "conv_"))
		if desk.status != "completed" {
			t.Errorf("the desk's turn is %s %s", desk.status, desk.message)
		}
	})
}

// respondTo asks for a response and gives it as it ended; a streamed one is checked
// frame by frame.
func (r *cliRig) respondTo(t *testing.T, streamed bool, body map[string]any) map[string]any {
	t.Helper()
	if !streamed {
		return r.http.respond(body).object
	}
	own := map[string]any{"stream": true}
	for k, v := range body {
		own[k] = v
	}
	s := r.http.open("POST", "/v1/responses", own)
	frames := s.end(cliTurnLimit)
	checkResponse(t, s)
	last, _ := at(frames[len(frames)-1].data(), "response").(map[string]any)
	return last
}
