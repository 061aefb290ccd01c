package drift

import (
	"slices"
	"testing"
)

func TestOperationsThatNobodyCallsAreFound(t *testing.T) {
	t.Parallel()
	sdk := &SDK{}
	for _, o := range [][2]string{
		{"GET", "/agents"}, {"GET", "/agents/{agent_id}"}, {"GET", "/agents/sessions"}, {"DELETE", "/agents/{}"},
		{"POST", "/responses/compact"}, {"POST", "/responses/compact?beta=true"}, {"GET", "/agents/sessions/{}/turns/{}"},
	} {
		sdk.Operations = append(sdk.Operations, Operation{Method: o[0], Path: o[1]})
	}
	calls := Calls{}
	if got := calls.Uncalled(sdk); len(got) != len(sdk.Operations) {
		t.Errorf("nothing was called, but of %v only %v is said", sdk.Operations, got)
	}
	calls.Called("GET", "/v1/agents/sessions", "limit=3")
	calls.Called("DELETE", "/v1/agents/a%2Fb", "")
	calls.Called("POST", "/v1/responses/compact", "beta=true")
	calls.Called("GET", "/v1/agents/sessions/s/turns/", "")
	calls.Called("GET", "/v1/unheard/of", "")
	want := []string{"GET /agents", "GET /agents/sessions/{}/turns/{}", "GET /agents/{}", "POST /responses/compact"}
	if got := calls.Uncalled(sdk); !slices.Equal(got, want) {
		t.Errorf("uncalled %v, want %v", got, want)
	}
}

func TestOperationsOfGoSources(t *testing.T) {
	t.Parallel()
	got := goOperations(`package openai

func (r *ThingService) New(ctx context.Context) (err error) {
	path := "agents/things"
	err = requestconfig.ExecuteNewRequest(ctx, http.MethodPost, path, body, &res, opts...)
}

func (r *ThingService) ListAutoPaging(ctx context.Context) {
	return r.List(ctx)
}

func (r *ThingService) Get(ctx context.Context) (err error) {
	path := requestconfig.FormatPath("agents/things/%s?beta=true", id)
	cfg, err := requestconfig.NewRequestConfig(ctx, http.MethodGet, path, nil, &res, opts...)
}

func (r *OtherService) Get(ctx context.Context) (err error) {
	path := "audio"
	err = requestconfig.ExecuteNewRequest(ctx, http.MethodGet, path, nil, &res, opts...)
}
`)
	want := []Operation{{Name: "Thing.New", Method: "POST", Path: "/agents/things"}, {Name: "Thing.Get", Method: "GET", Path: "/agents/things/{}?beta=true"}}
	if !slices.EqualFunc(got, want, func(a, b Operation) bool { return a.Name == b.Name && a.Method == b.Method && a.Path == b.Path }) {
		t.Errorf("operations %v, want %v", got, want)
	}
}
