// Package qwen runs the Qwen Code CLI: with the exec driver by one `qwen
// --output-format stream-json` a turn, with the persistent one by `qwen --acp`, many
// sessions a process (package acp). Its facts were taken from version 0.24.4 (Pinned).
//
// What to know:
//
//   - What has no flag goes into a settings file of the turn's own directory, which
//     QWEN_CODE_SYSTEM_SETTINGS_PATH names: the CLI fills ${NAME} in it from its
//     environment (not so in --mcp-config), and no file of the workspace overrides it.
//     The machine-wide settings file, which it stands in for, is not read.
//   - The CLI keeps a project's .qwen/settings.json in its newest form by itself: one
//     without a version gets it, one that it cannot read is put aside as
//     settings.json.corrupted and begun anew. Nothing of the adapter is in that file. No
//     flag, variable or setting switches that off but its own sandbox's
//     (tools.executionSandbox), which changes what commands may do; a file that has
//     "$version": 4 is left as it is.
//   - The CLI has no sandbox that works everywhere. read_only offers reading tools
//     only; workspace_write accepts edits and allows the shell, which nothing confines
//     to the workspace: Capabilities.Confined is false. Tools of the agent's MCP
//     servers are trusted with each: nobody is there to be asked.
//   - QWEN_CODE_NO_RELAUNCH saves one of the three processes that the command starts.
//     The remaining wrapper ends on a signal before the agent does, so it is the
//     group that is signalled and the end of the pipe that counts.
//   - A conversation is found again in the directory that it began in only.
//   - The result line is a tentative verdict. Exit 53 and 55, the CLI's own caps, come
//     without one.
//   - The text of an API error is streamed as if the model had said it. It is a notice
//     and the failure's message, no answer.
//   - Subagents are told as the call that set them to work; multi_agent.enabled false
//     takes the tool away.
//   - On 5xx the CLI retries silently for a minute or more; no setting shortens that.
//     maxRetries 0 takes away the longer pauses of a minute each that follow a 429.
//   - Left alone, the CLI asks the model once more after each answer, to extract
//     memories, and counts that as usage of the turn. It is switched off.
//   - Usage is that of the process, so of the turn.
//   - A prompt that begins with "/" and a known word is a command of the CLI, and
//     @PATH in a prompt reads a file: the CLI has no way to switch either off.
//   - Its tool shells inherit the whole environment, the provider key included.
//
// With --acp:
//
//   - A session that is loaded is not read again, whatever another process has added to
//     it, and keeps its tool servers; so it is closed before it is opened again, by the
//     vendor's own qwen/control/session/close. To open one takes as long as a short turn.
//   - Tool servers, model and effort are in the settings and arguments of the process, as
//     with exec: only there a server can be trusted and limited to some of its tools.
//   - read_only takes the changing tools away (--exclude-tools) and denies what still asks.
//     A denied call ends the turn without a further word of the model.
//   - Left alone, the CLI asks the model behind each turn, with the whole conversation and
//     without reasoning, what the user might say next; nobody is shown that, and it may
//     fall into the next turn. ui.enableFollowupSuggestions switches it off.
//   - Instructions go before the prompt; --max-session-turns is ignored and there is no
//     schema.
package qwen
