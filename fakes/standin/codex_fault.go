package standin

const providerURL = "http://127.0.0.1:1/v1/responses"

// codexFaults are the messages of a failed turn, by kind of fault.
var codexFaults = map[string]string{
	"400":        `{"error":{"message":"The scripted provider refuses this request.","type":"invalid_request_error","param":null,"code":"invalid_value"}}`,
	"401":        "unexpected status 401 Unauthorized: Incorrect API key provided., url: " + providerURL + ", request id: req_scripted_1",
	"403":        "unexpected status 403 Forbidden: This key may not use this model., url: " + providerURL + ", request id: req_scripted_1",
	"404":        "The model does not exist or you do not have access to it.",
	"429":        "exceeded retry limit, last status: 429 Too Many Requests, request id: req_scripted_1",
	"quota":      "Quota exceeded. Check your plan and billing details.",
	"500":        "We’re currently experiencing high demand, which may cause temporary errors.",
	"503":        "unexpected status 503 Service Unavailable: Service unavailable, url: " + providerURL + ", request id: req_scripted_1",
	"529":        "unexpected status 529 <unknown status code>: Overloaded, url: " + providerURL + ", request id: req_scripted_1",
	"context":    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
	"cut":        "stream disconnected before completion: Transport error: network error: error decoding response body",
	"garbage":    "stream disconnected before completion: stream closed before response.completed",
	"incomplete": "Incomplete response returned, reason: max_output_tokens",
}
