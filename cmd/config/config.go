package config

import (
	"time"

	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
)

// Config is every setting. The yaml tag is the key; help is what flags and
// messages say; enum lists the only values; keep leaves ${VAR} in place for the
// host to fill at spawn; secret keeps a value out of messages.
type Config struct {
	Listen       string       `yaml:"listen" help:"address to serve on; port 0 picks one and logs it"`
	TLSCert      string       `yaml:"tls_cert" help:"file of the certificate, and of those that vouch for it, in PEM; read again on SIGHUP; empty serves plain HTTP"`
	TLSKey       string       `yaml:"tls_key" help:"file of its key in PEM"`
	Web          Web          `yaml:"web"`
	StateDir     string       `yaml:"state_dir" help:"directory of sessions, journal and homes, 0700; in a file a relative one counts from the directory of that file"`
	ToolsDir     string       `yaml:"tools_dir" help:"directory searched for agent CLIs before PATH"`
	Groups       []string     `yaml:"groups" enum:"agents" help:"groups of routes that are served"`
	Log          Log          `yaml:"log"`
	Auth         Auth         `yaml:"auth"`
	Audit        Audit        `yaml:"audit"`
	Limits       Limits       `yaml:"limits"`
	Stream       Stream       `yaml:"stream"`
	Store        Store        `yaml:"store"`
	Environments Environments `yaml:"environments"`
	Agents       Agents       `yaml:"agents"`
	Definitions  []Definition `yaml:"definitions"`
	Policy       Policy       `yaml:"policy"`

	// LockDefinitions refuses writes of saved agents; only ABX_AGENTS_LOCK_DEFINITIONS
	// sets it.
	LockDefinitions bool `yaml:"-"`
	// Ephemeral keeps sessions in memory only; only ABX_AGENTS_PERSIST=0 sets it.
	Ephemeral bool `yaml:"-"`
	// PrivateURLs lets callers' MCP servers be in this host's own network; only
	// ABX_AGENTS_ALLOW_PRIVATE_URLS sets it.
	PrivateURLs bool `yaml:"-"`
	// AllowInstall lets callers, and turns that need one, install CLIs; only
	// ABX_AGENTS_ALLOW_INSTALL sets it.
	AllowInstall bool `yaml:"-"`
	// File is the file that was read, "" without one.
	File string `yaml:"-"`

	allowCommand bool
	// reference are the agents of ABX_AGENTS_CONFIG.
	reference     []located[referenceAgent]
	referenceFile string
	saved         []spec.Agent
	document      *policy.Document
}

// Web is what browsers may do.
type Web struct {
	// Hosts are names that requests may be for, besides those of this machine; Origins
	// the pages of other sites that may send some. Without a token Hosts are the only
	// public names that are answered.
	Hosts   []string `yaml:"hosts"`
	Origins []string `yaml:"origins"`
}

// Log says what is logged and how.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error" help:"least severe level that is logged"`
	Format string `yaml:"format" enum:"text,json" help:"form of a log line on standard error"`
}

// Auth is who may come in.
type Auth struct {
	AllowAnonymous bool    `yaml:"allow_anonymous" help:"serve a non-loopback address without a token; a gateway must guard it"`
	Tokens         []Token `yaml:"tokens"`
}

// Audit is the book of security-relevant acts.
type Audit struct {
	Enabled  bool   `yaml:"enabled" help:"keep a book of who did what, as JSON lines"`
	File     string `yaml:"file" help:"where; empty is audit/audit.jsonl in state_dir; in a file a relative one counts from the directory of that file"`
	MaxBytes Size   `yaml:"max_bytes" min:"4096" help:"size at which a new file is begun"`
	MaxFiles int    `yaml:"max_files" min:"1" help:"files kept, the newest among them"`
}

// Token is a principal and the variable or the file that holds a token of it. Several
// with one id are tokens of one principal.
type Token struct {
	ID        string   `yaml:"id"`
	Roles     []string `yaml:"roles"`
	TokenEnv  string   `yaml:"token_env" secret:"true"`
	TokenFile string   `yaml:"token_file"`
	// Expires is a time of RFC 3339 or a date; "" is never.
	Expires string `yaml:"expires"`
	// Weight is its part of the slots while others want some too, 1 without one;
	// the others stand in for the limits of every principal.
	Weight            int `yaml:"weight" min:"1"`
	Concurrency       int `yaml:"concurrency" min:"1"`
	RequestsPerMinute int `yaml:"requests_per_minute" min:"1"`

	// Value is the token itself and Until what Expires means, filled at load; they
	// have no key.
	Value string    `yaml:"-"`
	Until time.Time `yaml:"-"`
	// SHA256 is the digest of a token that is not known here, in hex; only a document of
	// ABX_SERVER_POLICY gives one, and then there is no Value.
	SHA256 string `yaml:"-"`
}

// Limits bound what the host does.
type Limits struct {
	MaxConcurrentTurns  int           `yaml:"max_concurrent_turns" help:"turns running at once; 0 is max(4, 4 x cores)"`
	MaxPrincipalTurns   int           `yaml:"max_principal_turns" help:"turns of one principal running at once, unless its token says otherwise; 0 is no bound"`
	MaxAgentTurns       int           `yaml:"max_agent_turns" help:"turns running at once of one saved agent, or of the unsaved ones of one adapter; 0 is no bound"`
	PrincipalRate       int           `yaml:"principal_requests_per_minute" help:"requests of one principal in a minute, unless its token says otherwise; 0 is no bound"`
	AgentRate           int           `yaml:"agent_turns_per_minute" help:"inputs in a minute for one saved agent, or for the unsaved ones of one adapter; 0 is no bound"`
	MaxQueue            int           `yaml:"max_queue" min:"1" help:"inputs waiting in one session"`
	MaxWaitingTurns     int           `yaml:"max_waiting_turns" min:"1" help:"turns waiting in the whole host"`
	MaxWaitingProcesses int           `yaml:"max_waiting_processes" min:"1" help:"turns that wait for their caller with a live CLI"`
	MaxSessions         int           `yaml:"max_sessions" min:"1" help:"sessions kept"`
	SessionTTL          time.Duration `yaml:"session_ttl" min:"1" help:"idle time after which a session is evicted"`
	PassivateAfter      time.Duration `yaml:"passivate_after" min:"1" help:"idle time after which a session leaves memory"`
	TurnTimeout         time.Duration `yaml:"turn_timeout" min:"1" help:"longest turn"`
	IdleTimeout         time.Duration `yaml:"idle_timeout" min:"1" help:"longest silence of a CLI with no open tool"`
	ToolResultTimeout   time.Duration `yaml:"tool_result_timeout" min:"1" help:"longest wait for a caller's tool result"`
	SettleQuiet         time.Duration `yaml:"settle_quiet" min:"1" help:"silence after a tentative terminal line that settles the turn"`
	Linger              time.Duration `yaml:"linger" min:"1" help:"time a CLI may live after its turn has settled"`
	InterruptGrace      time.Duration `yaml:"interrupt_grace" min:"1" help:"time after SIGINT before SIGTERM"`
	TerminateGrace      time.Duration `yaml:"terminate_grace" min:"1" help:"time after SIGTERM before SIGKILL"`
	MaxLineBytes        Size          `yaml:"max_line_bytes" min:"4096" help:"longest line read from a CLI"`
	MaxItemBytes        Size          `yaml:"max_item_bytes" min:"4096" help:"largest text of one item"`
	MaxOutputBytes      Size          `yaml:"max_output_bytes" min:"4096" help:"most output of one turn"`
	MaxBodyBytes        Size          `yaml:"max_body_bytes" min:"4096" help:"largest request body"`
	MaxConnections      int           `yaml:"max_connections" min:"1" help:"open connections of clients, streams among them"`
	MaxSubscribers      int           `yaml:"max_subscribers" min:"1" help:"streams of one session"`
	RingBytes           Size          `yaml:"ring_bytes" min:"4096" help:"recent events of one session kept in memory for its streams"`
	MaxAgents           int           `yaml:"max_agents" min:"1" help:"saved agents of one principal"`
	MaxFileBytes        Size          `yaml:"max_file_bytes" min:"1" help:"largest stored file"`
	MaxFilesBytes       Size          `yaml:"max_files_bytes" min:"1" help:"stored files of one principal together"`
	MaxFiles            int           `yaml:"max_files" min:"1" help:"stored files of one principal"`
	MaxArtifactBytes    Size          `yaml:"max_artifact_bytes" min:"1" help:"largest file that is published as an artifact"`
	MaxArtifactsBytes   Size          `yaml:"max_artifacts_bytes" min:"1" help:"artifacts of one session together"`
	MaxArtifacts        int           `yaml:"max_artifacts" min:"1" help:"artifacts of one session"`
	MaxSecretBytes      Size          `yaml:"max_secret_bytes" min:"4096" help:"header values of callers' MCP servers kept in memory"`
	JournalMaxBytes     Size          `yaml:"journal_max_bytes" min:"65536" help:"largest journal of one session"`
	StoreMaxBytes       Size          `yaml:"store_max_bytes" help:"largest store; 0 is no bound"`
	MinFreeDisk         Size          `yaml:"min_free_disk" help:"free disk below which no input is accepted and running turns are ended"`
	DiskReserve         Size          `yaml:"disk_reserve" help:"room on the disk kept for the ends of running turns when it is full; 0 is none"`
	MinAvailableMemory  Size          `yaml:"min_available_memory" help:"available memory below which no further turn starts"`
	DrainTimeout        time.Duration `yaml:"drain_timeout" help:"time that running turns get at a stop"`
	MaxTurnTokens       int           `yaml:"max_turn_tokens" help:"tokens of one turn; 0 is no bound"`
	MaxTurnUSD          float64       `yaml:"max_turn_usd" help:"dollars of one turn, where the CLI tells its cost; 0 is no bound"`
	MaxSessionTokens    int           `yaml:"max_session_tokens" help:"tokens of one session; 0 is no bound"`
	MaxSessionUSD       float64       `yaml:"max_session_usd" help:"dollars of one session; 0 is no bound"`
	MaxPrincipalTokens  int           `yaml:"max_principal_tokens" help:"tokens of one principal, ever; 0 is no bound"`
	MaxPrincipalUSD     float64       `yaml:"max_principal_usd" help:"dollars of one principal, ever; 0 is no bound"`
	MaxDayTokens        int           `yaml:"max_day_tokens" help:"tokens of the whole host in a day of UTC; 0 is no bound"`
	MaxDayUSD           float64       `yaml:"max_day_usd" help:"dollars of the whole host in a day of UTC; 0 is no bound"`
	MaxCPUSeconds       int           `yaml:"max_cpu_seconds" help:"CPU time of one turn's processes; 0 is no bound"`
	MaxMemoryBytes      Size          `yaml:"max_memory_bytes" help:"memory of one turn's processes together; 0 is no bound"`
	MaxProcesses        int           `yaml:"max_processes" help:"processes and threads of one turn; 0 is no bound"`
	MaxWrittenFileBytes Size          `yaml:"max_written_file_bytes" help:"largest file that a turn's processes may write; 0 is no bound"`
	MaxOpenFiles        int           `yaml:"max_open_files" help:"open files of each process of a turn; 0 is no bound"`
	RunnerIdle          time.Duration `yaml:"runner_idle" min:"1" help:"time without a turn after which a long-lived CLI process ends"`
	RunnerTurns         int           `yaml:"runner_turns" min:"1" help:"turns after which a long-lived CLI process is replaced"`
	RunnerMaxMemory     Size          `yaml:"runner_max_memory" min:"1" help:"memory past which a long-lived CLI process is replaced"`
	RunnerMaxIdle       int           `yaml:"runner_max_idle" min:"1" help:"long-lived CLI processes without a turn that are kept"`
	MaxAddressConns     int           `yaml:"max_address_connections" help:"open connections of one address, or of one /64 of IPv6; 0 is no bound"`
	AddressRate         int           `yaml:"address_requests_per_minute" help:"requests of one address in a minute, likewise; 0 is no bound"`
}

// Stream is about event streams.
type Stream struct {
	Heartbeat    time.Duration `yaml:"heartbeat" min:"1" help:"time between heartbeats of a quiet stream"`
	WriteTimeout time.Duration `yaml:"write_timeout" min:"1" help:"time after which a reader that reads nothing is closed"`
}

// Store is where sessions are kept.
type Store struct {
	Kind string `yaml:"kind" enum:"embedded,postgres" help:"kind of store"`
}

// Environments is where agents work.
type Environments struct {
	Hosted    string `yaml:"hosted" enum:"local,off,docker" help:"how openai_hosted environments are provided"`
	Workspace string `yaml:"workspace" help:"directory of sessions that name none; empty is a private one per session"`
}

// Agents is the adapters by name.
type Agents struct {
	Default string `yaml:"default" help:"adapter of requests that pin none; none means that a request must"`
	// CallerMCP are the hosts of MCP servers that callers may bring; "*.suffix" and "*"
	// stand for many.
	CallerMCP []string            `yaml:"caller_mcp"`
	Runtimes  map[string]*Runtime `yaml:",rest"`
}

// Runtime is how one adapter is run.
type Runtime struct {
	Adapter           string    `yaml:"adapter"`
	Binary            string    `yaml:"binary" help:"program: a name in tools_dir or PATH, or an absolute path"`
	Driver            string    `yaml:"driver" enum:"auto,exec,persistent" help:"one process a turn (exec) or a long-lived one"`
	Home              string    `yaml:"home" enum:"auto,private,inherit" help:"the CLI's own state: the user's or a private one"`
	Permissions       string    `yaml:"permissions" enum:"read_only,workspace_write,full_access,ask" help:"permissions of agents that name none"`
	OnBusy            string    `yaml:"on_busy" enum:"queue,steer,reject" help:"what becomes of a message that comes while a turn runs"`
	PermissionsStrict bool      `yaml:"permissions_strict" help:"refuse permissions that the CLI cannot enforce itself"`
	Sandboxed         bool      `yaml:"sandboxed" help:"this machine is itself the sandbox"`
	Isolation         Isolation `yaml:"isolation"`
	AutoInstall       bool      `yaml:"auto_install" help:"install the CLI when a turn needs it and it is not there; needs ABX_AGENTS_ALLOW_INSTALL=1"`
	LLM               LLM       `yaml:"llm"`
	PassthroughEnv    []string  `yaml:"passthrough_env"`
	ExtraArgs         []string  `yaml:"extra_args"`

	// The rest belongs to adapter: command, but for Command and LLMEnv, which adapter:
	// acp has too, and the two at the end, which only that has.
	Command []string `yaml:"command"`
	Prompt  string   `yaml:"prompt" enum:"argv,stdin"` // "" goes by whether command holds {prompt}
	Output  Output   `yaml:"output"`
	JSONL   JSONL    `yaml:"jsonl"`
	Resume  Resume   `yaml:"resume"`
	Exit    Exit     `yaml:"exit"`
	LLMEnv  LLMEnv   `yaml:"llm_env"`

	Modes map[string]Mode `yaml:"modes"`
	Auth  string          `yaml:"auth_method"`
}

// Isolation is how far a CLI is kept from the rest of this machine.
type Isolation struct {
	Level    string `yaml:"level" enum:"auto,group,home,rlimits,cgroup,landlock,bubblewrap" help:"highest level to use, as far as this machine has it"`
	Required string `yaml:"required" enum:"none,group,home,rlimits,cgroup,landlock,bubblewrap" help:"level below which nothing is run"`
	// Read and Write are further paths that a confined CLI may reach, Ports further TCP
	// ports that it may connect to.
	Read  []string `yaml:"read"`
	Write []string `yaml:"write"`
	Ports []int    `yaml:"ports"`
}

// Levels are the two as the engine takes them, none and auto as the same.
func (i *Isolation) Levels() (level, required isolation.Level) {
	level, _ = isolation.Parse(i.Level)
	if i.Required != "none" {
		required, _ = isolation.Parse(i.Required)
	}
	return level, required
}

// OwnHome says that the CLI gets a home of its own by it.
func (i *Isolation) OwnHome() bool { return max(i.Levels()) >= isolation.Home }

// Mode is how a declared ACP agent keeps a permission.
type Mode struct {
	ID     string `yaml:"mode"`
	Answer string `yaml:"answer" enum:"deny,allow,ask"`
}

// LLM names the variables that hold a CLI's provider.
type LLM struct {
	BaseURLEnv string `yaml:"base_url_env" secret:"true" help:"variable that holds the provider's URL"`
	APIKeyEnv  string `yaml:"api_key_env" secret:"true" help:"variable that holds the provider's key"`
	WireAPI    string `yaml:"wire_api" enum:"responses,chat" help:"wire of the provider"`
	Relay      bool   `yaml:"relay" help:"keep the key from the CLI: it reaches its provider through this host"`
}

// Output says what a declarative adapter's CLI prints.
type Output struct {
	Format string `yaml:"format" enum:"text,jsonl,jsonl-codex,jsonl-claude,jsonl-cursor"`
}

// JSONL says where things are in the lines of format jsonl.
type JSONL struct {
	TextPath    string `yaml:"text_path"`
	MessagePath string `yaml:"message_path"`
	ErrorPath   string `yaml:"error_path"`
	SessionPath string `yaml:"session_path"`
	UsagePath   string `yaml:"usage_path"`
	DonePath    string `yaml:"done_path"`
}

// Resume says how a declarative adapter's CLI goes on with a session: by further
// arguments, or by others.
type Resume struct {
	Args          []string `yaml:"args"`
	Argv          []string `yaml:"argv"`
	SessionIDFrom string   `yaml:"session_id_from"`
}

// Exit says what the exit status of a declarative adapter's CLI means where its
// output does not tell.
type Exit struct {
	Success  []int             `yaml:"success"`
	Failures map[string]string `yaml:"failures"` // status to the code of the failure
}

// LLMEnv names the variables in which a declarative adapter's CLI expects its
// provider.
type LLMEnv struct {
	APIKey  string `yaml:"api_key" secret:"true"`
	BaseURL string `yaml:"base_url"`
	Model   string `yaml:"model"`
}

// Definition is a saved agent of the configuration.
type Definition struct {
	Name         string               `yaml:"name"`
	Runtime      string               `yaml:"runtime"`
	Model        string               `yaml:"model"`
	Instructions string               `yaml:"instructions"`
	Workspace    Workspace            `yaml:"workspace"`
	Env          map[string]string    `yaml:"env"`
	Secrets      map[string]string    `yaml:"secrets" keep:"true" secret:"true"`
	MCPServers   map[string]MCPServer `yaml:"mcp_servers"`
	Permissions  string               `yaml:"permissions" enum:"read_only,workspace_write,full_access,ask"`
	Limits       DefinitionLimits     `yaml:"limits"`
	LLM          DefinitionLLM        `yaml:"llm"`
}

// DefinitionLLM names the variables that hold the provider of one saved agent, where it
// has another than its adapter.
type DefinitionLLM struct {
	BaseURLEnv string `yaml:"base_url_env" secret:"true"`
	APIKeyEnv  string `yaml:"api_key_env" secret:"true"`
	WireAPI    string `yaml:"wire_api" enum:"responses,chat"`
}

// Workspace is where a defined agent works.
type Workspace struct {
	Path string `yaml:"path"`
	Git  Git    `yaml:"git"`
}

// Git is a repository to clone into a workspace.
type Git struct {
	URL   string `yaml:"url"`
	Ref   string `yaml:"ref"`
	Token string `yaml:"token" keep:"true" secret:"true"`
}

// MCPServer is a tool server of a defined agent.
type MCPServer struct {
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers" keep:"true" secret:"true"`
	Command string            `yaml:"command"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env" keep:"true" secret:"true"`
}

// DefinitionLimits bound the turns of a defined agent; 0 is the host's own.
type DefinitionLimits struct {
	TurnTimeout  time.Duration `yaml:"turn_timeout"`
	IdleTimeout  time.Duration `yaml:"idle_timeout"`
	MaxTurns     int           `yaml:"max_turns"`
	MaxBudgetUSD float64       `yaml:"max_budget_usd"`
	MaxTokens    int           `yaml:"max_tokens"`
	// The two bound a session of the agent, the others a turn.
	MaxSessionTokens int     `yaml:"max_session_tokens"`
	MaxSessionUSD    float64 `yaml:"max_session_usd"`

	MaxOutputBytes      Size `yaml:"max_output_bytes"`
	MaxCPUSeconds       int  `yaml:"max_cpu_seconds"`
	MaxMemoryBytes      Size `yaml:"max_memory_bytes"`
	MaxProcesses        int  `yaml:"max_processes"`
	MaxWrittenFileBytes Size `yaml:"max_written_file_bytes"`
	MaxOpenFiles        int  `yaml:"max_open_files"`

	// The two bound all turns of the agent together.
	Concurrency    int `yaml:"concurrency"`
	TurnsPerMinute int `yaml:"turns_per_minute"`
}

// The variables of a CLI's provider where the configuration names no others.
const (
	DefaultBaseURLEnv = "ABX_LLM_BASE_URL"
	DefaultAPIKeyEnv  = "ABX_LLM_API_KEY"
)

// BuiltIn are the adapters that need no declaration.
var BuiltIn = []string{"claude-code", "codex", "cursor", "gemini", "opencode", "qwen-code"}

// Default is what holds when nothing is set. home is the user's directory, root
// says that the host runs as uid 0.
func Default(home string, root bool) *Config {
	state := home + "/.local/state/agenthost"
	if root {
		state = "/var/lib/agenthost"
	}
	codex, claude, qwen, cursor := defaultRuntime("codex"), defaultRuntime("claude"), defaultRuntime("qwen"), defaultRuntime("cursor-agent")
	qwen.LLM.WireAPI = "chat"
	cursor.LLM.APIKeyEnv = "CURSOR_API_KEY" // its vendor's, never the key of another provider
	opencode, gemini := defaultRuntime("opencode"), defaultRuntime("gemini")
	opencode.LLM.WireAPI = "chat"
	gemini.LLM.APIKeyEnv, gemini.LLM.BaseURLEnv = "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL" // its wire is another
	return &Config{
		Listen:   "127.0.0.1:9000",
		StateDir: state,
		ToolsDir: home + "/.local/share/agenthost/tools",
		Groups:   []string{"agents"},
		Log:      Log{Level: "info", Format: "text"},
		Audit:    Audit{Enabled: true, MaxBytes: 64 << 20, MaxFiles: 10},
		Limits: Limits{
			MaxQueue:            32,
			MaxWaitingTurns:     10000,
			MaxWaitingProcesses: 64,
			MaxSessions:         1000000,
			SessionTTL:          720 * time.Hour,
			RunnerIdle:          time.Minute,
			RunnerTurns:         200,
			RunnerMaxMemory:     1 << 30,
			RunnerMaxIdle:       8,
			MaxConnections:      50000,
			RingBytes:           1 << 20,
			MaxAgents:           10000,
			MaxFileBytes:        10 << 20,
			MaxFilesBytes:       256 << 20,
			MaxFiles:            10000,
			MaxArtifactBytes:    10 << 20,
			MaxArtifactsBytes:   256 << 20,
			MaxArtifacts:        1000,
			MaxSecretBytes:      64 << 20,
			PassivateAfter:      time.Minute,
			TurnTimeout:         30 * time.Minute,
			IdleTimeout:         5 * time.Minute,
			ToolResultTimeout:   10 * time.Minute,
			SettleQuiet:         300 * time.Millisecond,
			Linger:              5 * time.Second,
			InterruptGrace:      5 * time.Second,
			TerminateGrace:      3 * time.Second,
			MaxLineBytes:        64 << 20,
			MaxItemBytes:        2 << 20,
			MaxOutputBytes:      256 << 20,
			MaxBodyBytes:        10 << 20,
			MaxSubscribers:      32,
			JournalMaxBytes:     32 << 20,
			MinFreeDisk:         512 << 20,
			DiskReserve:         64 << 20,
			MinAvailableMemory:  512 << 20,
			DrainTimeout:        30 * time.Second,
		},
		Stream:       Stream{Heartbeat: 15 * time.Second, WriteTimeout: 30 * time.Second},
		Store:        Store{Kind: "embedded"},
		Environments: Environments{Hosted: "local"},
		Agents: Agents{
			Default:   "codex",
			CallerMCP: []string{},
			Runtimes:  map[string]*Runtime{"codex": codex, "claude-code": claude, "qwen-code": qwen, "cursor": cursor, "opencode": opencode, "gemini": gemini},
		},
		allowCommand: true,
	}
}

func defaultRuntime(binary string) *Runtime {
	return &Runtime{
		Binary:      binary,
		Driver:      "auto",
		Home:        "auto",
		Permissions: "workspace_write",
		OnBusy:      "queue",
		Isolation:   Isolation{Level: "auto", Required: "none"},
		LLM:         LLM{BaseURLEnv: DefaultBaseURLEnv, APIKeyEnv: DefaultAPIKeyEnv, WireAPI: "responses"},
		Output:      Output{Format: "text"},
	}
}
