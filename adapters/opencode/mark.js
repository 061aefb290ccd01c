export const Mark = async () => ({
	"shell.env": async (input, output) => {
		output.env.NPM_CONFIG_OFFLINE = "false"
		if (input.sessionID) output.env.AGENT_THREAD_ID = input.sessionID
	},
})
