package main

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/conversations"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/webhooks"
)

// only is the error of a call.
func only[T any](_ T, err error) error { return err }

var workspace = param.Override[openai.EnvironmentParamUnion](map[string]any{"type": "self_hosted"})

func with[T param.ParamStruct, P param.InferPtr[T]](fields object) T {
	return param.Override[T, P](fields)
}

type object = map[string]any

const (
	noSession, noSubagent, noEnv, noTemplate = "agsess_" + zero, "agent_" + zero, "env_" + zero, "tmpl_" + zero
	noAutomation, noVault, noCred, noHook    = "auto_" + zero, "vault_" + zero, "cred_" + zero, "we_" + zero
)

// unbuilt are calls of each operation that is not built.
var unbuilt = map[string]func(c openai.Client) error{
	"traces": func(c openai.Client) error {
		return only(c.Beta.Agents.Sessions.Traces.List(ctx, noSession, openai.BetaAgentSessionTraceListParams{}))
	},
	"environment_create": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.New(ctx, with[openai.BetaAgentEnvironmentNewParams](object{"environment": object{"type": "openai_hosted"}})))
	},
	"environment_get": func(c openai.Client) error { return only(c.Beta.Agents.Environments.Get(ctx, noEnv)) },
	"environment_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.List(ctx, openai.BetaAgentEnvironmentListParams{}))
	},
	"environment_file_create": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.Files.New(ctx, noEnv, with[openai.BetaAgentEnvironmentFileNewParams](object{"path": "/a", "type": "inline", "data": "eA=="})))
	},
	"environment_file_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.Files.List(ctx, noEnv, openai.BetaAgentEnvironmentFileListParams{}))
	},
	"template_create": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.Templates.New(ctx, openai.BetaAgentEnvironmentTemplateNewParams{}))
	},
	"template_get": func(c openai.Client) error { return only(c.Beta.Agents.Environments.Templates.Get(ctx, noTemplate)) },
	"template_update": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.Templates.Update(ctx, noTemplate, openai.BetaAgentEnvironmentTemplateUpdateParams{}))
	},
	"template_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Environments.Templates.List(ctx, openai.BetaAgentEnvironmentTemplateListParams{}))
	},
	"template_delete": func(c openai.Client) error { return only(c.Beta.Agents.Environments.Templates.Delete(ctx, noTemplate)) },
	"vault_create": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.New(ctx, openai.BetaAgentVaultNewParams{}))
	},
	"vault_get": func(c openai.Client) error { return only(c.Beta.Agents.Vaults.Get(ctx, noVault)) },
	"vault_update": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.Update(ctx, noVault, openai.BetaAgentVaultUpdateParams{}))
	},
	"vault_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.List(ctx, openai.BetaAgentVaultListParams{}))
	},
	"vault_delete": func(c openai.Client) error { return only(c.Beta.Agents.Vaults.Delete(ctx, noVault)) },
	"credential_create": func(c openai.Client) error {
		body := object{"name": "x", "auth": object{"type": "static_bearer", "token": "t", "mcp_server_url": "https://example.com"}}
		return only(c.Beta.Agents.Vaults.Credentials.New(ctx, noVault, with[openai.BetaAgentVaultCredentialNewParams](body)))
	},
	"credential_get": func(c openai.Client) error { return only(c.Beta.Agents.Vaults.Credentials.Get(ctx, noVault, noCred)) },
	"credential_update": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.Credentials.Update(ctx, noVault, noCred, openai.BetaAgentVaultCredentialUpdateParams{}))
	},
	"credential_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.Credentials.List(ctx, noVault, openai.BetaAgentVaultCredentialListParams{}))
	},
	"credential_delete": func(c openai.Client) error {
		return only(c.Beta.Agents.Vaults.Credentials.Delete(ctx, noVault, noCred))
	},
	"automation_create": func(c openai.Client) error {
		return only(c.Beta.Agents.Automations.New(ctx, with[openai.BetaAgentAutomationNewParams](object{"name": "x", "type": "once", "run_at": 1})))
	},
	"automation_get": func(c openai.Client) error { return only(c.Beta.Agents.Automations.Get(ctx, noAutomation)) },
	"automation_update": func(c openai.Client) error {
		return only(c.Beta.Agents.Automations.Update(ctx, noAutomation, with[openai.BetaAgentAutomationUpdateParams](object{"name": "x"})))
	},
	"automation_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Automations.List(ctx, openai.BetaAgentAutomationListParams{}))
	},
	"automation_delete": func(c openai.Client) error { return only(c.Beta.Agents.Automations.Delete(ctx, noAutomation)) },
	"automation_pause":  func(c openai.Client) error { return only(c.Beta.Agents.Automations.Pause(ctx, noAutomation)) },
	"automation_resume": func(c openai.Client) error { return only(c.Beta.Agents.Automations.Resume(ctx, noAutomation)) },
	"invocation_create": func(c openai.Client) error { return only(c.Beta.Agents.Automations.Invocations.New(ctx, noAutomation)) },
	"invocation_get": func(c openai.Client) error {
		return only(c.Beta.Agents.Automations.Invocations.Get(ctx, noAutomation, "inv_"+zero))
	},
	"invocation_list": func(c openai.Client) error {
		return only(c.Beta.Agents.Automations.Invocations.List(ctx, noAutomation, openai.BetaAgentAutomationInvocationListParams{}))
	},
	"compact": func(c openai.Client) error {
		return only(c.Responses.Compact(ctx, responses.ResponseCompactParams{Model: "codex"}))
	},
	"count": func(c openai.Client) error {
		return only(c.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{}))
	},
	"beta_compact": func(c openai.Client) error {
		return only(c.Beta.Responses.Compact(ctx, openai.BetaResponseCompactParams{Model: "codex"}))
	},
	"beta_count": func(c openai.Client) error {
		return only(c.Beta.Responses.InputTokens.Count(ctx, openai.BetaResponseInputTokenCountParams{}))
	},
	"model_delete": func(c openai.Client) error { return only(c.Models.Delete(ctx, "codex")) },
	"hook_create": func(c openai.Client) error {
		return only(c.Webhooks.New(ctx, webhooks.WebhookNewParams{Name: "x", URL: "https://example.com"}))
	},
	"hook_get": func(c openai.Client) error { return only(c.Webhooks.Get(ctx, noHook)) },
	"hook_update": func(c openai.Client) error {
		return only(c.Webhooks.Update(ctx, noHook, webhooks.WebhookUpdateParams{}))
	},
	"hook_list":   func(c openai.Client) error { return only(c.Webhooks.List(ctx, webhooks.WebhookListParams{})) },
	"hook_delete": func(c openai.Client) error { return only(c.Webhooks.Delete(ctx, noHook)) },
	"hook_rotate": func(c openai.Client) error {
		return only(c.Webhooks.RotateSecret(ctx, noHook, webhooks.WebhookRotateSecretParams{}))
	},
	"hook_test":  func(c openai.Client) error { return only(c.Webhooks.Test(ctx, noHook, webhooks.WebhookTestParams{})) },
	"hook_types": func(c openai.Client) error { return only(c.Webhooks.EventTypes.List(ctx)) },
}

var _ = add(map[string]func(){
	"refused_501": func() { each(501, "operation_unavailable", unbuilt) },
	"refused_404_below_a_session": func() {
		s := whole(sessions.New(ctx, openai.BetaAgentSessionNewParams{Environment: workspace, Agent: openai.BetaAgentSessionNewParamsAgent{Model: openai.String("codex")}})).ID
		each(404, "", map[string]func(openai.Client) error{
			"subagents": func(c openai.Client) error {
				return only(c.Beta.Agents.Sessions.Subagents.List(ctx, noSession, openai.BetaAgentSessionSubagentListParams{}))
			},
			"subagent": func(c openai.Client) error { return only(c.Beta.Agents.Sessions.Subagents.Get(ctx, s, noSubagent)) },
			"artifact": func(c openai.Client) error { return only(c.Beta.Agents.Sessions.Artifacts.Get(ctx, s, "art_"+zero)) },
			"content": func(c openai.Client) error {
				return only(c.Beta.Agents.Sessions.Artifacts.Content(ctx, s, "art_"+zero))
			},
			"artifact_gone": func(c openai.Client) error {
				return only(c.Beta.Agents.Sessions.Artifacts.Delete(ctx, s, "art_"+zero))
			},
		})
	},
	"functions_that_an_adapter_cannot_call": func() {
		tools := []any{object{"type": "function", "name": "f", "description": "", "parameters": object{"type": "object", "properties": object{}}}}
		each(400, "agents.functions_unsupported", map[string]func(openai.Client) error{
			"echo_response": func(c openai.Client) error {
				return only(c.Responses.New(ctx, with[responses.ResponseNewParams](object{"model": "echo", "input": "x", "tools": tools})))
			},
			"echo_session": func(c openai.Client) error {
				return only(c.Beta.Agents.Sessions.New(ctx, with[openai.BetaAgentSessionNewParams](object{"environment": object{"type": "self_hosted"}, "agent": object{"model": "echo", "tools": tools}})))
			},
		})
	},
	"calls_that_nobody_waits_for": func() {
		r := respond(asking("x"))
		each(404, "tool_call_not_found", map[string]func(openai.Client) error{
			"nobody_result": func(c openai.Client) error {
				return c.Beta.Agents.Sessions.Events.New(ctx, "agsess_"+r.Conversation.ID[len("conv_"):], inputs(toolResult("call_"+zero, "turn_"+r.ID[len("resp_"):], object{"success": true, "output": "x"})))
			},
			"nobody_output": func(c openai.Client) error { return only(c.Responses.New(ctx, output(r.ID, "codex", "call_"+zero))) },
		})
	},
	"spend_control_is_kept": func() {
		p := openai.BetaAgentSessionNewParams{Environment: workspace, Agent: openai.BetaAgentSessionNewParamsAgent{Model: openai.String("claude-code")}}
		p.SpendControl.Limit = openai.Int(200)
		s := whole(sessions.New(ctx, p))
		eq([]int64{s.SpendControl.Limit, s.SpendControl.Consumed}, []int64{200, 0})
		u := openai.BetaAgentSessionUpdateParams{}
		u.SpendControl.Limit = openai.Int(500)
		eq(whole(sessions.Update(ctx, s.ID, u)).SpendControl.Limit, int64(500))
	},
	"beta_responses": func() {
		beta := &client.Beta.Responses
		r := must(beta.New(ctx, with[openai.BetaResponseNewParams](object{"model": "codex", "input": "hello", "background": true})))
		until(func() bool { return must(beta.Get(ctx, r.ID, openai.BetaResponseGetParams{})).Status == "completed" })
		eq(len(must(beta.InputItems.List(ctx, r.ID, openai.BetaResponseInputItemListParams{})).Data), 1)
		eq(string(must(beta.Cancel(ctx, r.ID, openai.BetaResponseCancelParams{})).Status), "completed")
		ok(beta.Delete(ctx, r.ID, openai.BetaResponseDeleteParams{}))
		refused(404, "", "beta_gone", func(c openai.Client) error {
			return only(c.Beta.Responses.Get(ctx, r.ID, openai.BetaResponseGetParams{}))
		})
	},
	"files_and_models_lists": func() {
		whole(client.Files.New(ctx, upload("x", "listed.txt")))
		eq(len(whole(client.Files.List(ctx, openai.FileListParams{Limit: openai.Int(1)})).Data), 1)
		if len(whole(client.Models.List(ctx)).Data) == 0 {
			fail("no models")
		}
	},
	"conversations": func() {
		all, items := &client.Conversations, &client.Conversations.Items
		user := func(text string) responses.ResponseInputItemUnionParam {
			return with[responses.ResponseInputItemUnionParam](object{"role": "user", "content": text})
		}
		made := whole(all.New(ctx, conversations.ConversationNewParams{Items: []responses.ResponseInputItemUnionParam{user("hi")}, Metadata: map[string]string{"a": "b"}}))
		eq(whole(all.Get(ctx, made.ID)).RawJSON(), made.RawJSON())
		updated := whole(all.Update(ctx, made.ID, conversations.ConversationUpdateParams{Metadata: map[string]string{"c": "d"}}))
		eq(updated.Metadata, any(map[string]any{"c": "d"}))
		posted := whole(items.New(ctx, made.ID, conversations.ItemNewParams{Items: []responses.ResponseInputItemUnionParam{user("the word is heron"), user("gone")}})).Data
		eq(whole(items.Get(ctx, made.ID, posted[0].ID, conversations.ItemGetParams{})).RawJSON(), posted[0].RawJSON())
		eq(whole(items.Delete(ctx, made.ID, posted[1].ID)).ID, made.ID)
		list := conversations.ItemListParams{Limit: openai.Int(1), Order: "asc"}
		up := ids(items.ListAutoPaging(ctx, made.ID, list), func(it conversations.ConversationItemUnion) string { return it.ID })
		eq([]any{len(up), up[1]}, []any{2, posted[0].ID})
		r := whole(client.Responses.New(ctx, with[responses.ResponseNewParams](object{"model": "codex", "input": "which?", "conversation": made.ID})))
		has(r.OutputText(), "the word is heron")
		eq(whole(all.Delete(ctx, made.ID)).Deleted, true)
		each(404, "session_not_found", map[string]func(openai.Client) error{
			"conversation_gone": func(c openai.Client) error { return only(c.Conversations.Get(ctx, made.ID)) },
			"conversation_items_gone": func(c openai.Client) error {
				return only(c.Conversations.Items.List(ctx, made.ID, conversations.ItemListParams{}))
			},
		})
		refused(404, "item_not_found", "conversation_item_gone", func(c openai.Client) error {
			other := must(all.New(ctx, conversations.ConversationNewParams{}))
			return only(c.Conversations.Items.Get(ctx, other.ID, posted[0].ID, conversations.ItemGetParams{}))
		})
	},
})

// toolResult answers a function call on the Agents wire, output one on the other.
func toolResult(call, turn string, more object) openai.AgentSessionInputParamUnion {
	more["type"], more["call_id"], more["turn_id"] = "agent.session.input.tool_result", call, turn
	return with[openai.AgentSessionInputParamUnion](more)
}

func output(previous, model, call string) responses.ResponseNewParams {
	return with[responses.ResponseNewParams](object{
		"model": model, "previous_response_id": previous, "input": []any{object{"type": "function_call_output", "call_id": call, "output": "hail"}},
	})
}
