package spec

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

func TestMetadataThatNameAProvider(t *testing.T) {
	t.Parallel()
	for base, sound := range map[string]bool{
		"https://llm.example/v1": true, "http://127.0.0.1:8080": true, "https://[2001:db8::1]/v1/": true,
		"": false, "llm.example": false, "ftp://llm.example": false, "https://": false, "https://user:pass@llm.example": false, "https://llm.example/v1?key=x": false,
		"https://llm.example/v1?": false, "https://llm.example/#x": false, "https://llm.example/${OPENAI_API_KEY}": false, "https://llm.example\n": false,
	} {
		err := ValidMetadata("metadata", map[string]string{ProviderKey: base})
		if sound != (err == nil) {
			t.Errorf("%q: %v", base, err)
		}
		if f, ok := event.AsFailure(err); err != nil && (!ok || f.Param != "metadata."+ProviderKey) {
			t.Errorf("%q: %v", base, err)
		}
	}
}
