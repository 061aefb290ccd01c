package apierr

import "github.com/agenthost/agenthost/actors/event"

// Codes of refusals that only the HTTP surface knows.
const (
	Internal             event.Code = "internal_error"
	Unauthorized         event.Code = "unauthorized"
	AmbiguousCredentials event.Code = "ambiguous_credentials"
	Forbidden            event.Code = "forbidden"
	EndpointDisabled     event.Code = "endpoint_disabled"
	RouteNotFound        event.Code = "route_not_found"
	MethodNotAllowed     event.Code = "method_not_allowed"
	BodyTooLarge         event.Code = "request_too_large"
	HeaderTooLarge       event.Code = "headers_too_large"
	UnsupportedEncoding  event.Code = "unsupported_content_encoding"
	RequestTimeout       event.Code = "request_timeout"
	RateLimitReached                = event.RateLimitReached
	// ListCursorNotFound is a list's after that names nothing in the list.
	ListCursorNotFound event.Code = "agents.cursor_not_found"
	// RangeNotSatisfiable is a Range that begins behind the end.
	RangeNotSatisfiable event.Code = "range_not_satisfiable"
)

// Types of the envelope's "type".
const (
	typeRequest    = "invalid_request_error"
	typeAuth       = "authentication_error"
	typePermission = "permission_error"
	typeRate       = "rate_limit_error"
	typeServer     = "server_error"
)

// Retry says what a refusal tells SDKs about trying again.
type Retry uint8

const (
	// No: the same request is refused again. Where SDKs would retry by themselves
	// (408, 409, 429, 5xx) the answer carries x-should-retry: false.
	No Retry = iota
	// Later: it helps to wait; SDKs retry by themselves, after Retry-After.
	Later
)

// Row is what one code looks like.
type Row struct {
	Status int
	Type   string // of the envelope
	// Turn is error.code of a failed turn on the Agents wire, Response the one of a
	// failed response on the Responses wire. Both are closed sets of the SDKs.
	Turn, Response string
	Retry          Retry
	// RetryAfter is the default in seconds for Later; a Failure's own wins.
	RetryAfter int
}

const (
	respServer = "server_error"
	respRate   = "rate_limit_exceeded"
)

// table has a row for every event.Code and every code above. Codes that never end
// a turn have internal_error and server_error there.
var table = map[event.Code]Row{
	// A turn's failures; their status is that of a refusal before anything runs.
	event.AuthenticationError:  {400, typeAuth, "authentication_error", respServer, No, 0},
	event.RateLimited:          {429, typeRate, "rate_limit_exceeded", respRate, Later, 30},
	event.UsageLimited:         {429, typeRate, "usage_limit_exceeded", respRate, No, 0},
	event.ModelNotFound:        {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.ContextTooLong:       {400, typeRequest, "context_length_exceeded", respServer, No, 0},
	event.MaxOutputTokens:      {400, typeRequest, "max_output_tokens", respServer, No, 0},
	event.ProviderOverloaded:   {503, typeServer, "server_overloaded", respServer, Later, 5},
	event.ProviderUnreachable:  {503, typeServer, "connection_failed", respServer, Later, 5},
	event.InvalidRequest:       {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.ResumeLost:           {409, typeRequest, "invalid_request", respServer, No, 0},
	event.TurnLimit:            {400, typeRequest, "usage_limit_exceeded", respServer, No, 0},
	event.BudgetReached:        {409, typeRequest, "session_budget_exceeded", respRate, No, 0},
	event.IdleTimeout:          {504, typeServer, "request_timeout", respServer, No, 0},
	event.TurnTimeout:          {504, typeServer, "request_timeout", respServer, No, 0},
	event.ToolTimeout:          {504, typeServer, "request_timeout", respServer, No, 0},
	event.RuntimeNotInstalled:  {409, typeRequest, "sandbox_error", respServer, No, 0},
	event.IsolationUnavailable: {409, typeRequest, "sandbox_error", respServer, No, 0},
	event.WorkspaceUnavail:     {409, typeRequest, "sandbox_error", respServer, No, 0},
	event.OutputLimit:          {500, typeServer, "sandbox_error", respServer, No, 0},
	event.MemoryLimit:          {500, typeServer, "sandbox_error", respServer, No, 0},
	event.CPULimit:             {500, typeServer, "sandbox_error", respServer, No, 0},
	event.ProcessLimit:         {500, typeServer, "sandbox_error", respServer, No, 0},
	event.FileLimit:            {500, typeServer, "sandbox_error", respServer, No, 0},
	event.SteerRefused:         {409, typeRequest, "active_turn_not_steerable", respServer, No, 0},
	event.CLICrashed:           {500, typeServer, "internal_error", respServer, No, 0},
	event.NoVerdict:            {500, typeServer, "internal_error", respServer, No, 0},
	event.ServerStopped:        {503, typeServer, "internal_error", respServer, Later, 5},
	event.ServerRestarted:      {503, typeServer, "internal_error", respServer, Later, 1},
	event.StorageFailed:        {503, typeServer, "internal_error", respServer, Later, 30},
	event.OpenFilesLimit:       {500, typeServer, "sandbox_error", respServer, No, 0},

	// Refusals of the engine.
	event.NotFound:              {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.SessionNotFound:       {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.TurnNotFound:          {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.SubagentNotFound:      {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.AgentNotFound:         {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.FileNotFound:          {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.FileTooLarge:          {413, typeRequest, "invalid_request", respServer, No, 0},
	event.FilesFull:             {409, typeRequest, "invalid_request", respServer, No, 0},
	event.QueueFull:             {429, typeRate, "server_overloaded", respRate, Later, 5},
	event.HostBusy:              {429, typeRate, "server_overloaded", respRate, Later, 1},
	event.TooManySubscribers:    {429, typeRate, "server_overloaded", respRate, Later, 5},
	event.TooManySessions:       {429, typeRate, "server_overloaded", respRate, Later, 60},
	event.ShuttingDown:          {503, typeServer, "internal_error", respServer, Later, 5},
	event.CursorEvicted:         {410, typeRequest, "resource_not_found", respServer, No, 0},
	event.CursorNotFound:        {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.IdempotencyMismatch:   {409, typeRequest, "invalid_request", respServer, No, 0},
	event.OperationUnavailable:  {501, typeRequest, "invalid_request", respServer, No, 0},
	event.PreviousNotLatest:     {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.AdapterRequired:       {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.EnvironmentRefused:    {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.PermissionUnsupported: {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.Unsupported:           {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.NameTaken:             {409, typeRequest, "invalid_request", respServer, No, 0},
	event.NameAmbiguous:         {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.DefinitionsLocked:     {403, typePermission, "invalid_request", respServer, No, 0},
	event.SessionQuarantined:    {409, typeRequest, "internal_error", respServer, No, 0},
	event.NotOwner:              {421, typeRequest, "internal_error", respServer, No, 0},
	event.CallUnknown:           {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.CallAnsweredAlready:   {409, typeRequest, "invalid_request", respServer, No, 0},
	event.FunctionsUnsupported:  {400, typeRequest, "invalid_request", "invalid_prompt", No, 0},
	event.ArtifactNotFound:      {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.ItemNotFound:          {404, typeRequest, "resource_not_found", respServer, No, 0},
	event.ItemInUse:             {409, typeRequest, "invalid_request", respServer, No, 0},
	event.MCPNotAllowed:         {403, typePermission, "invalid_request", respServer, No, 0},
	event.InstallNotAllowed:     {403, typePermission, "invalid_request", respServer, No, 0},
	event.NotInstallable:        {400, typeRequest, "invalid_request", respServer, No, 0},
	event.PermissionDenied:      {403, typePermission, "invalid_request", respServer, No, 0},

	// Ends of an installation; a job shows them, no answer has them as its status.
	event.InstallError:      {500, typeServer, "sandbox_error", respServer, No, 0},
	event.IntegrityMismatch: {500, typeServer, "sandbox_error", respServer, No, 0},

	// Refusals of the HTTP surface.
	Internal:             {500, typeServer, "internal_error", respServer, No, 0},
	Unauthorized:         {401, typeAuth, "authentication_error", respServer, No, 0},
	AmbiguousCredentials: {400, typeRequest, "authentication_error", respServer, No, 0},
	Forbidden:            {403, typePermission, "invalid_request", respServer, No, 0},
	EndpointDisabled:     {404, typeRequest, "invalid_request", respServer, No, 0},
	RouteNotFound:        {404, typeRequest, "resource_not_found", respServer, No, 0},
	MethodNotAllowed:     {405, typeRequest, "invalid_request", respServer, No, 0},
	BodyTooLarge:         {413, typeRequest, "invalid_request", respServer, No, 0},
	HeaderTooLarge:       {431, typeRequest, "invalid_request", respServer, No, 0},
	UnsupportedEncoding:  {415, typeRequest, "invalid_request", respServer, No, 0},
	RequestTimeout:       {408, typeRequest, "request_timeout", respServer, No, 0},
	RateLimitReached:     {429, typeRate, "rate_limit_exceeded", respRate, Later, 1},
	ListCursorNotFound:   {404, typeRequest, "resource_not_found", respServer, No, 0},
	RangeNotSatisfiable:  {416, typeRequest, "invalid_request", respServer, No, 0},
}

// Of is the row of code. A code of a newer writer reads as an internal error.
func Of(code event.Code) Row {
	if r, ok := table[code]; ok {
		return r
	}
	return table[Internal]
}
