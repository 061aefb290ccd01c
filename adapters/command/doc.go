// Package command makes an adapter of a few lines of configuration: any CLI that
// takes a prompt and prints an answer.
//
// Rules of a definition:
//
//   - command is the program and its arguments. {prompt}, {session_id}, {model} and
//     {workdir} are replaced wherever they stand; nothing goes through a shell. An
//     argument whose {model} or {session_id} has no value is left out, and with it
//     the option before it if the placeholder is the whole argument ("--model",
//     "{model}").
//   - prompt: stdin writes the prompt to standard input. prompt: argv puts it where
//     {prompt} stands, and refuses prompts above 128 KiB, which no argument can hold.
//   - A prompt that begins with "-" must not become an option. It is safe as part of
//     an argument ("--message={prompt}") and behind "--"; elsewhere such a prompt is
//     refused, because only the CLI knows what it would make of it.
//   - Instructions go before the prompt, set off by a blank line: there is no system
//     prompt that all CLIs have.
//   - output.format text: what is printed is the answer, line by line, without
//     terminal escapes; exit 0 is success. jsonl: the paths say where in each line
//     things are; without done_path exit 0 is success, with it the line where it is
//     neither false, null, 0 nor "" is. jsonl-codex, jsonl-claude and jsonl-cursor are
//     the dialects of those CLIs.
//   - binary is the program where it is not the first element of command.
//   - resume.args are added on every turn but the first (before "--" if there is
//     one); resume.argv stands in place of command there. The session id comes from resume.session_id_from, else jsonl.session_path,
//     or from the dialect. A CLI that finds its conversation by itself (by the
//     workspace, say) needs neither: it is resumed once it has printed something.
//   - The output's verdict goes before the exit status. Where there is none,
//     exit.success names the statuses of success (text, and jsonl without done_path)
//     and exit.failures those that mean a certain failure; after another bad exit
//     standard error is read for a reason.
//   - The CLI is not confined and cannot be told to ask: workspace_write and
//     full_access are taken as they are, read_only and ask are refused.
package command
