package mcp

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"time"

	jsoniter "github.com/json-iterator/go"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

type request struct {
	ID     jsoniter.RawMessage `json:"id"`
	Method string              `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Name            string `json:"name"`
		Arguments       struct {
			Text string `json:"text"`
			Name string `json:"name"`
			MS   int    `json:"ms"`
		} `json:"arguments"`
	} `json:"params"`
}

type object = map[string]any

// Serve answers requests, one JSON object a line, until in ends.
func Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := serve(line, out); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func serve(line []byte, out io.Writer) error {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return send(out, object{"jsonrpc": "2.0", "id": nil, "error": object{"code": -32700, "message": "not JSON"}})
	}
	if len(r.ID) == 0 {
		return nil // a notification
	}
	return send(out, answer(r))
}

func answer(r request) object {
	reply := object{"jsonrpc": "2.0", "id": r.ID}
	switch r.Method {
	case "initialize":
		reply["result"] = object{
			"protocolVersion": r.Params.ProtocolVersion, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": "scripted", "version": "1"},
		}
	case "ping":
		reply["result"] = object{}
	case "tools/list":
		reply["result"] = object{"tools": tools()}
	case "tools/call":
		reply["result"] = call(r)
	default:
		reply["error"] = object{"code": -32601, "message": "no method " + r.Method}
	}
	return reply
}

func tools() []object {
	return []object{
		tool("echo", "Answers the text.", "text", "string"),
		tool("env", "Answers the length of an environment variable.", "name", "string"),
		tool("fail", "Answers an error.", "text", "string"),
		tool("wait", "Answers after some milliseconds.", "ms", "integer"),
	}
}

func tool(name, description, argument, kind string) object {
	return object{"name": name, "description": description, "inputSchema": object{
		"type": "object", "properties": object{argument: object{"type": kind}}, "required": []string{argument},
	}}
}

func call(r request) object {
	switch a := r.Params.Arguments; r.Params.Name {
	case "echo":
		return text("echo: "+a.Text, false)
	case "env":
		return text(a.Name+" has "+strconv.Itoa(len(os.Getenv(a.Name)))+" characters", false)
	case "wait":
		time.Sleep(time.Duration(a.MS) * time.Millisecond)
		return text("waited", false)
	case "fail":
		return text(a.Text, true)
	}
	return text("no tool "+r.Params.Name, true)
}

func text(s string, failed bool) object {
	return object{"content": []object{{"type": "text", "text": s}}, "isError": failed}
}

func send(out io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}
