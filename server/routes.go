package server

import (
	"github.com/agenthost/agenthost/wires/call"
)

// group is a set of routes that is switched on and off together.
type group string

const (
	// groupAgents is everything below /v1.
	groupAgents group = "agents"
	// groupOpen answers without a token: probes.
	groupOpen group = "open"
	// groupCore needs a token and is always on.
	groupCore group = "core"
)

// route is one row of the table.
type route struct {
	method, path string
	// operation is the id in refusals, metrics and policy. The last segment is a
	// verb.
	operation string
	// old is the id that documents of existing deployments use, "" for none.
	old   string
	group group
	// handler is nil for an operation that is not built yet: it answers 501.
	handler call.Handler
	// stream marks a route that only ever answers with events: it has no HEAD.
	stream bool
}

const v1 = "/v1"

// routes is the table of everything served. A row without a handler answers 501
// operation_unavailable.
func (s *Server) routes(h *handlers) []route {
	const (
		get, post, del = "GET", "POST", "DELETE"

		agent    = v1 + "/agents/{agent_id}"
		auto     = v1 + "/agents/automations"
		auto1    = auto + "/{automation_id}"
		env      = v1 + "/agents/environments"
		env1     = env + "/{environment_id}"
		tmpl     = env + "/templates"
		tmpl1    = tmpl + "/{environment_template_id}"
		sess     = v1 + "/agents/sessions"
		sess1    = sess + "/{session_id}"
		sub1     = sess1 + "/subagents/{subagent_id}"
		art1     = sess1 + "/artifacts/{artifact_id}"
		vault1   = v1 + "/vaults/{vault_id}"
		cred1    = vault1 + "/credentials/{credential_id}"
		resp1    = v1 + "/responses/{response_id}"
		conv1    = v1 + "/conversations/{conversation_id}"
		hook1    = v1 + "/webhook_endpoints/{webhook_endpoint_id}"
		file1    = v1 + "/files/{file_id}"
		convItem = conv1 + "/items/{item_id}"
	)
	return []route{
		// Agents wire: saved agents.
		{post, v1 + "/agents", "agents.definitions.create", "agents_definitions_create", groupAgents, h.createAgent, false},
		{get, v1 + "/agents", "agents.definitions.list", "agents_definitions_list", groupAgents, h.listAgents, false},
		{get, agent, "agents.definitions.get", "agents_definitions_get", groupAgents, h.getAgent, false},
		{post, agent, "agents.definitions.update", "agents_definitions_update", groupAgents, h.updateAgent, false},
		{del, agent, "agents.definitions.delete", "agents_definitions_delete", groupAgents, h.deleteAgent, false},

		// Agents wire: sessions.
		{post, sess, "agents.sessions.create", "agents_sessions_create", groupAgents, h.createSession, false},
		{get, sess, "agents.sessions.list", "agents_sessions_list", groupAgents, h.listSessions, false},
		{get, sess1, "agents.sessions.get", "agents_sessions_get", groupAgents, h.getSession, false},
		{post, sess1, "agents.sessions.update", "agents_sessions_update", groupAgents, h.updateSession, false},
		{del, sess1, "agents.sessions.delete", "agents_sessions_delete", groupAgents, h.deleteSession, false},
		{post, sess1 + "/events", "agents.sessions.send_event", "agents_sessions_events_create", groupAgents, h.sendEvent, false},
		{get, sess1 + "/events", "agents.sessions.stream_events", "agents_sessions_events_stream", groupAgents, h.streamEvents, true},
		{get, sess1 + "/items", "agents.sessions.list_items", "agents_sessions_items_list", groupAgents, h.listItems, false},
		{get, sess1 + "/turns", "agents.sessions.list_turns", "agents_sessions_turns_list", groupAgents, h.listTurns, false},
		{get, sess1 + "/turns/{turn_id}", "agents.sessions.get_turn", "agents_sessions_turns_get", groupAgents, h.getTurn, false},
		{get, sess1 + "/turns/{turn_id}/items", "agents.sessions.list_turn_items", "agents_sessions_turns_items_list", groupAgents, h.listTurnItems, false},
		{get, sess1 + "/artifacts", "agents.sessions.list_artifacts", "agents_artifacts_list", groupAgents, h.listArtifacts, false},
		{get, art1, "agents.sessions.get_artifact", "agents_artifacts_get", groupAgents, h.getArtifact, false},
		{get, art1 + "/content", "agents.sessions.download_artifact", "agents_artifacts_content", groupAgents, h.downloadArtifact, false},
		{del, art1, "agents.sessions.delete_artifact", "agents_artifacts_delete", groupAgents, h.deleteArtifact, false},
		{get, sess1 + "/traces", "agents.sessions.list_traces", "agents_traces_list", groupAgents, nil, false},
		{get, sess1 + "/subagents", "agents.sessions.list_subagents", "agents_subagents_list", groupAgents, h.listSubagents, false},
		{get, sub1, "agents.sessions.get_subagent", "agents_subagents_get", groupAgents, h.getSubagent, false},
		{get, sub1 + "/items", "agents.sessions.list_subagent_items", "agents_subagents_items_list", groupAgents, h.listSubagentItems, false},
		{get, sub1 + "/turns", "agents.sessions.list_subagent_turns", "agents_subagents_turns_list", groupAgents, h.listSubagentTurns, false},
		{get, sub1 + "/turns/{turn_id}", "agents.sessions.get_subagent_turn", "agents_subagents_turns_get", groupAgents, h.getSubagentTurn, false},
		{get, sub1 + "/turns/{turn_id}/items", "agents.sessions.list_subagent_turn_items", "agents_subagents_turns_items_list", groupAgents, h.listSubagentTurnItems, false},

		// Agents wire: environments and templates.
		{post, env, "agents.environments.create", "agents_environments_create", groupAgents, nil, false},
		{get, env, "agents.environments.list", "agents_environments_list", groupAgents, nil, false},
		{get, env1, "agents.environments.get", "agents_environments_get", groupAgents, nil, false},
		{post, env1 + "/files", "agents.environments.create_file", "agents_environment_files_create", groupAgents, nil, false},
		{get, env1 + "/files", "agents.environments.list_files", "agents_environment_files_list", groupAgents, nil, false},
		{post, tmpl, "agents.templates.create", "agents_environment_templates_create", groupAgents, nil, false},
		{get, tmpl, "agents.templates.list", "agents_environment_templates_list", groupAgents, nil, false},
		{get, tmpl1, "agents.templates.get", "agents_environment_templates_get", groupAgents, nil, false},
		{post, tmpl1, "agents.templates.update", "agents_environment_templates_update", groupAgents, nil, false},
		{del, tmpl1, "agents.templates.delete", "agents_environment_templates_delete", groupAgents, nil, false},

		// Agents wire: vaults and credentials.
		{post, v1 + "/vaults", "agents.vaults.create", "agents_vaults_create", groupAgents, nil, false},
		{get, v1 + "/vaults", "agents.vaults.list", "agents_vaults_list", groupAgents, nil, false},
		{get, vault1, "agents.vaults.get", "agents_vaults_get", groupAgents, nil, false},
		{post, vault1, "agents.vaults.update", "agents_vaults_update", groupAgents, nil, false},
		{del, vault1, "agents.vaults.delete", "agents_vaults_delete", groupAgents, nil, false},
		{post, vault1 + "/credentials", "agents.vaults.create_credential", "agents_vault_credentials_create", groupAgents, nil, false},
		{get, vault1 + "/credentials", "agents.vaults.list_credentials", "agents_vault_credentials_list", groupAgents, nil, false},
		{get, cred1, "agents.vaults.get_credential", "agents_vault_credentials_get", groupAgents, nil, false},
		{post, cred1, "agents.vaults.update_credential", "agents_vault_credentials_update", groupAgents, nil, false},
		{del, cred1, "agents.vaults.delete_credential", "agents_vault_credentials_delete", groupAgents, nil, false},

		// Agents wire: automations.
		{post, auto, "agents.automations.create", "", groupAgents, nil, false},
		{get, auto, "agents.automations.list", "", groupAgents, nil, false},
		{get, auto1, "agents.automations.get", "", groupAgents, nil, false},
		{post, auto1, "agents.automations.update", "", groupAgents, nil, false},
		{del, auto1, "agents.automations.delete", "", groupAgents, nil, false},
		{post, auto1 + "/pause", "agents.automations.pause", "", groupAgents, nil, false},
		{post, auto1 + "/resume", "agents.automations.resume", "", groupAgents, nil, false},
		{post, auto1 + "/invocations", "agents.automations.invoke", "", groupAgents, nil, false},
		{get, auto1 + "/invocations", "agents.automations.list_invocations", "", groupAgents, nil, false},
		{get, auto1 + "/invocations/{invocation_id}", "agents.automations.get_invocation", "", groupAgents, nil, false},

		// Responses wire.
		{post, v1 + "/responses", "responses.create", "agents_responses_create", groupAgents, h.createResponse, false},
		{post, v1 + "/responses/compact", "responses.compact", "agents_responses_compact", groupAgents, nil, false},
		{post, v1 + "/responses/input_tokens", "responses.count_input_tokens", "agents_cannot_responses_input_tokens", groupAgents, nil, false},
		{get, resp1, "responses.get", "agents_responses_get", groupAgents, h.getResponse, false},
		{del, resp1, "responses.delete", "agents_responses_delete", groupAgents, h.deleteResponse, false},
		{post, resp1 + "/cancel", "responses.cancel", "agents_responses_cancel", groupAgents, h.cancelResponse, false},
		{get, resp1 + "/input_items", "responses.list_input_items", "agents_responses_input_items", groupAgents, h.listInputItems, false},
		{post, v1 + "/conversations", "conversations.create", "", groupAgents, h.createConversation, false},
		{get, conv1, "conversations.get", "", groupAgents, h.getConversation, false},
		{post, conv1, "conversations.update", "", groupAgents, h.updateConversation, false},
		{del, conv1, "conversations.delete", "", groupAgents, h.deleteConversation, false},
		{post, conv1 + "/items", "conversations.create_items", "", groupAgents, h.createConversationItems, false},
		{get, conv1 + "/items", "conversations.list_items", "", groupAgents, h.listConversationItems, false},
		{get, convItem, "conversations.get_item", "", groupAgents, h.getConversationItem, false},
		{del, convItem, "conversations.delete_item", "", groupAgents, h.deleteConversationItem, false},

		// Both wires: models, and what existing deployments use beside them.
		{get, v1 + "/models", "agents.models.list", "agents_models_list", groupAgents, h.listModels, false},
		{get, v1 + "/models/{model}", "agents.models.get", "agents_models_get", groupAgents, h.getModel, false},
		{del, v1 + "/models/{model}", "agents.models.delete", "agents_cannot_models_delete", groupAgents, nil, false},
		{get, v1 + "/agents/runtimes", "agents.runtimes.list", "agents_runtimes_list", groupAgents, s.listRuntimes, false},
		{post, v1 + "/agents/runtimes/{runtime}/install", "agents.runtimes.install", "", groupAgents, s.installRuntime, false},
		{get, v1 + "/agents/queue", "agents.queue.list", "", groupAgents, h.listQueue, false},
		{post, v1 + "/files", "agents.files.create", "agents_files_create", groupAgents, h.createFile, false},
		{get, v1 + "/files", "agents.files.list", "", groupAgents, h.listFiles, false},
		{get, file1, "agents.files.get", "", groupAgents, h.getFile, false},
		{get, file1 + "/content", "agents.files.download", "", groupAgents, h.downloadFile, false},
		{del, file1, "agents.files.delete", "", groupAgents, h.deleteFile, false},
		{post, v1 + "/webhook_endpoints", "agents.webhooks.create", "agents_webhooks_create", groupAgents, nil, false},
		{get, v1 + "/webhook_endpoints", "agents.webhooks.list", "agents_webhooks_list", groupAgents, nil, false},
		{get, hook1, "agents.webhooks.get", "agents_webhooks_get", groupAgents, nil, false},
		{post, hook1, "agents.webhooks.update", "agents_webhooks_update", groupAgents, nil, false},
		{del, hook1, "agents.webhooks.delete", "agents_webhooks_delete", groupAgents, nil, false},
		{post, hook1 + "/rotate_secret", "agents.webhooks.rotate_secret", "agents_webhooks_rotate_secret", groupAgents, nil, false},
		{post, hook1 + "/test", "agents.webhooks.test", "agents_webhooks_test", groupAgents, nil, false},
		{get, v1 + "/webhook_event_types", "agents.webhooks.list_event_types", "agents_webhook_event_types", groupAgents, nil, false},

		// Probes.
		{get, "/healthz", "server.check_live", "", groupOpen, s.live, false},
		{get, "/readyz", "server.check_ready", "", groupOpen, s.ready, false},
		{get, "/health", "server.check_health", "health", groupOpen, s.health, false},
		{get, "/capabilities", "server.list_capabilities", "capabilities", groupCore, s.capabilities, false},
		{get, "/openapi.json", "server.read_openapi", "", groupOpen, s.readOpenAPI, false},
		{get, "/metrics", "server.read_metrics", "", groupOpen, s.readMetrics, false},
	}
}

// pinnedPath is where a route also stands with its adapter pinned; "" for none.
func (r *route) pinnedPath() string {
	if r.group != groupAgents {
		return ""
	}
	return "/agents/{adapter}" + r.path
}
