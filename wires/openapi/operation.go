package openapi

// Operation is what a handler says about itself.
type Operation struct {
	// Summary is one sentence.
	Summary string
	// Query and Headers are structs whose fields are the parameters.
	Query, Headers any
	// Body is the type of the JSON body; nil without one. MayBeEmpty says that the
	// request may come without it.
	Body       any
	MayBeEmpty bool
	// Form is the type of the body as multipart/form-data, beside or instead of Body.
	Form any
	// Status of the answer; 0 means 200.
	Status int
	// Answer is the type of the JSON answer; nil means an empty one.
	Answer any
	// Text is the media type of an answer that is not JSON.
	Text string
	// Events are the frames of the event stream that the operation answers with,
	// always when it has no Answer; When says in which case it does.
	Events map[string]any
	When   string
	// Also are answers of other statuses that are not refusals.
	Also map[int]any
}

// Route is where an operation stands.
type Route struct {
	Method, Path, ID, Tag string
	// Open routes need no token; Unavailable ones are not built.
	Open, Unavailable bool
	// Pinned says that the route also stands below /agents/{adapter}.
	Pinned bool
}

// Refusal is a row of the table of errors.
type Refusal struct {
	Code       string `json:"-"`
	Status     int    `json:"status"`
	Type       string `json:"type"`
	RetryLater bool   `json:"retry_later,omitempty"`
}
