package event

import "errors"

// Code is a stable word for what went wrong. wires/apierr maps each to a status
// and to each wire's own code.
type Code string

// Codes a turn can fail with. The set is closed.
const (
	AuthenticationError Code = "authentication_error"
	RateLimited         Code = "rate_limited"
	UsageLimited        Code = "usage_limited"
	ModelNotFound       Code = "model_not_found"
	ContextTooLong      Code = "context_too_long"
	MaxOutputTokens     Code = "max_output_tokens"
	ProviderOverloaded  Code = "provider_overloaded"
	ProviderUnreachable Code = "provider_unreachable"
	InvalidRequest      Code = "invalid_request"
	ResumeLost          Code = "resume_lost"
	TurnLimit           Code = "turn_limit"
	BudgetReached       Code = "budget_reached"
	IdleTimeout         Code = "idle_timeout"
	TurnTimeout         Code = "turn_timeout"
	ToolTimeout         Code = "tool_timeout"
	RuntimeNotInstalled Code = "runtime_not_installed"
	WorkspaceUnavail    Code = "workspace_unavailable"
	OutputLimit         Code = "output_limit"
	MemoryLimit         Code = "memory_limit"
	CPULimit            Code = "cpu_limit"
	ProcessLimit        Code = "process_limit"
	FileLimit           Code = "file_limit"
	SteerRefused        Code = "active_turn_not_steerable"
	CLICrashed          Code = "cli_crashed"
	NoVerdict           Code = "no_verdict"
	ServerStopped       Code = "server_stopped"
	ServerRestarted     Code = "server_restarted"
	StorageFailed       Code = "storage_failed"
	OpenFilesLimit      Code = "open_files_limit"
	// IsolationUnavailable: this machine cannot keep the CLI as far away as its agent's
	// configuration requires.
	IsolationUnavailable Code = "isolation_unavailable"
)

// Codes a request can be refused with before anything is accepted. The set is
// closed together with the ones above.
const (
	NotFound              Code = "not_found"
	SessionNotFound       Code = "session_not_found"
	TurnNotFound          Code = "turn_not_found"
	SubagentNotFound      Code = "subagent_not_found"
	AgentNotFound         Code = "agent_not_found"
	FileNotFound          Code = "file_not_found"
	FileTooLarge          Code = "agents.file_too_large"
	FilesFull             Code = "agents.limit_exceeded"
	QueueFull             Code = "queue_full"
	HostBusy              Code = "host_busy"
	TooManySubscribers    Code = "too_many_subscribers"
	TooManySessions       Code = "too_many_sessions"
	ShuttingDown          Code = "shutting_down"
	CursorEvicted         Code = "cursor_evicted"
	CursorNotFound        Code = "cursor_not_found"
	IdempotencyMismatch   Code = "idempotency.mismatch"
	OperationUnavailable  Code = "operation_unavailable"
	PreviousNotLatest     Code = "agents.previous_response_not_latest"
	AdapterRequired       Code = "agents.adapter_required"
	EnvironmentRefused    Code = "agents.environment_unsupported"
	PermissionUnsupported Code = "agents.permission_unsupported"
	Unsupported           Code = "agents.unsupported"
	NameTaken             Code = "agents.name_taken"
	NameAmbiguous         Code = "agents.name_ambiguous"
	DefinitionsLocked     Code = "agents.definitions_locked"
	SessionQuarantined    Code = "session_quarantined"
	NotOwner              Code = "not_owner"
	CallUnknown           Code = "tool_call_not_found"
	CallAnsweredAlready   Code = "tool_call_already_answered"
	FunctionsUnsupported  Code = "agents.functions_unsupported"
	ArtifactNotFound      Code = "artifact_not_found"
	ItemNotFound          Code = "item_not_found"
	ItemInUse             Code = "agents.item_in_use"
	MCPNotAllowed         Code = "mcp_not_allowed"
	RateLimitReached      Code = "rate_limit_reached"
	InstallNotAllowed     Code = "agents.install_not_allowed"
	NotInstallable        Code = "agents.not_installable"
	PermissionDenied      Code = "permission_denied"
)

// Codes that an installation of a CLI can fail with, besides ServerStopped.
const (
	InstallError      Code = "install_failed"
	IntegrityMismatch Code = "integrity_mismatch"
)

// Failure is an error that crosses a boundary: fit for a stranger, with a
// stable code. It is stored in TurnEnded and returned by the Host.
type Failure struct {
	Code Code `json:"code"`
	// Message says what was wrong, where, and what to do.
	Message string `json:"message"`
	// Param names the request field at fault, if one is.
	Param string `json:"param,omitempty"`
	// Oldest is the oldest cursor kept, for CursorEvicted.
	Oldest string `json:"oldest,omitempty"`
	// RetryAfter is how many seconds to wait before a retry can help; 0 when
	// unknown.
	RetryAfter int `json:"retry_after,omitempty"`
	// ResetsAt is when a provider limit ends, in Unix seconds; 0 when unknown.
	ResetsAt int64 `json:"resets_at,omitempty"`
	// Cause is for logs; it is never shown or stored.
	Cause error `json:"-"`
}

// Fail builds a Failure.
func Fail(code Code, message string) *Failure { return &Failure{Code: code, Message: message} }

// FailParam builds a Failure that names a request field.
func FailParam(code Code, param, message string) *Failure {
	return &Failure{Code: code, Message: message, Param: param}
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Message }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Is matches failures by code, so errors.Is(err, event.Fail(event.QueueFull, "")) works.
func (f *Failure) Is(target error) bool {
	t, ok := target.(*Failure)
	return ok && t != nil && t.Code == f.Code
}

// AsFailure finds the Failure in err's chain. A nil *Failure inside an error is
// none.
func AsFailure(err error) (*Failure, bool) {
	var f *Failure
	ok := errors.As(err, &f) && f != nil
	return f, ok
}

// CodeOf is the code of the Failure in err's chain, "" without one.
func CodeOf(err error) Code {
	if f, ok := AsFailure(err); ok {
		return f.Code
	}
	return ""
}
