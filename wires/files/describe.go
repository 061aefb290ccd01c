package files

import (
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

// formBody is an upload as a form.
type formBody struct {
	File    string `json:"file" need:"true" doc:"the content, with a file name"`
	Purpose string `json:"purpose" enum:"assistants,batch,evals,fine-tune,user_data,vision" doc:"a label; user_data when missing"`
}

// jsonBody is an upload as existing deployments send it.
type jsonBody struct {
	Filename     string  `json:"filename"`
	Purpose      *string `json:"purpose" enum:"assistants,batch,evals,fine-tune,user_data,vision" doc:"a label; user_data when missing"`
	Data         *string `json:"data" need:"true" doc:"the base64 of the content"`
	ExpiresAfter any     `json:"expires_after" as:"null" doc:"files of this host do not expire"`
}

// purposes are those callers may give. To this host a purpose is a label.
var purposes = openapi.Words(jsonBody{}, "purpose")

type listQuery struct {
	After   string `json:"after" doc:"the id of the last element of the page before"`
	Limit   int    `json:"limit" min:"1" max:"10000" doc:"20 when missing; a page has at most 100"`
	Order   string `json:"order" enum:"asc,desc" doc:"of creation; desc when missing"`
	Purpose string `json:"purpose"`
}

// ContentHeaders describes what Send reads.
type ContentHeaders struct {
	Range       string `json:"Range" doc:"one range of bytes, answered with 206"`
	IfRange     string `json:"If-Range" doc:"the ETag of an earlier answer"`
	IfNoneMatch string `json:"If-None-Match" doc:"ETags of earlier answers; 304 when one still holds"`
}

// Operations describes this wire's handlers by the ids of their operations.
func Operations() map[string]openapi.Operation {
	return map[string]openapi.Operation{
		"agents.files.create":   {Summary: "Keep a file.", Headers: call.KeyHeader{}, Body: jsonBody{}, Form: formBody{}, Answer: fileObject{}},
		"agents.files.list":     {Summary: "List the caller's files.", Query: listQuery{}, Answer: list{}},
		"agents.files.get":      {Summary: "Read what is known of a file.", Answer: fileObject{}},
		"agents.files.download": {Summary: "Read a file's content, or a range of it.", Headers: ContentHeaders{}, Text: ContentType},
		"agents.files.delete":   {Summary: "Delete a file and its content.", Answer: deleted{}},
	}
}
