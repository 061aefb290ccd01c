package apierr

import "github.com/agenthost/agenthost/actors/event"

// TurnError is error.code and error.message of a failed turn on the Agents wire.
func TurnError(f *event.Failure) (code, message string) {
	if f == nil {
		return Of(Internal).Turn, unexplained
	}
	return Of(f.Code).Turn, said(f)
}

// ResponseError is error.code and error.message of a failed response.
func ResponseError(f *event.Failure) (code, message string) {
	if f == nil {
		return Of(Internal).Response, unexplained
	}
	return Of(f.Code).Response, said(f)
}

// Incomplete is incomplete_details.reason of a response that stopped at a limit of
// the CLI's own; "" for every other failure.
func Incomplete(f *event.Failure) string {
	if f == nil {
		return ""
	}
	switch f.Code {
	case event.MaxOutputTokens:
		return "max_output_tokens"
	case event.TurnLimit:
		return "max_messages"
	}
	return ""
}

const unexplained = "the turn failed without a reason"

func said(f *event.Failure) string {
	if f.Message == "" {
		return unexplained
	}
	return f.Message
}
