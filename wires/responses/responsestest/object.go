package responsestest

import (
	"encoding/json"
	"fmt"
)

// always are the fields that a response object must have, also when null.
var always = []string{
	"id", "object", "created_at", "status", "error", "incomplete_details", "instructions", "metadata", "model", "output",
	"parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p", "background", "completed_at", "conversation",
	"previous_response_id", "reasoning", "service_tier", "store", "text", "truncation", "usage", "access_programs",
}

// Object judges a response object by itself.
func Object(r map[string]any) error {
	for _, name := range always {
		if _, ok := r[name]; !ok {
			return fmt.Errorf("the response has no %s", name)
		}
	}
	if r["object"] != "response" {
		return fmt.Errorf("object is %v", r["object"])
	}
	for _, name := range []string{"output", "tools"} {
		if _, ok := r[name].([]any); !ok {
			return fmt.Errorf("%s is not a list", name)
		}
	}
	for _, name := range []string{"metadata", "conversation", "text", "reasoning"} {
		if _, ok := r[name].(map[string]any); !ok {
			return fmt.Errorf("%s is not an object", name)
		}
	}
	if s, _ := r["model"].(string); s == "" {
		return fmt.Errorf("the response names no model")
	}
	if u := r["usage"]; u != nil {
		if err := usage(u); err != nil {
			return err
		}
	}
	failed, stopped := r["status"] == "failed", r["status"] == "incomplete"
	if failed != (r["error"] != nil) || stopped != (r["incomplete_details"] != nil) {
		return fmt.Errorf("status %v with error %v and incomplete_details %v", r["status"], r["error"], r["incomplete_details"])
	}
	return nil
}

func usage(u any) error {
	o, _ := u.(map[string]any)
	in, _ := o["input_tokens_details"].(map[string]any)
	out, _ := o["output_tokens_details"].(map[string]any)
	for _, v := range []any{
		o["input_tokens"], o["output_tokens"], o["total_tokens"],
		in["cached_tokens"], in["cache_write_tokens"], out["reasoning_tokens"],
	} {
		switch v.(type) {
		case json.Number, float64:
		default:
			return fmt.Errorf("usage lacks a number: %v", o)
		}
	}
	return nil
}
