package drift

import (
	"slices"
	"strings"
)

// Calls are the requests that an SDK has made, each once: the method and the path
// below /v1, with ?beta=true where the request has that.
type Calls map[string]bool

// Called notes a request.
func (c Calls) Called(method, path, query string) {
	call := method + " " + strings.TrimPrefix(path, "/v1")
	if slices.Contains(strings.Split(query, "&"), "beta=true") {
		call += "?beta=true"
	}
	c[call] = true
}

// Uncalled lists the operations of an SDK that none of the requests was, sorted.
func (c Calls) Uncalled(sdk *SDK) (list []string) {
	called := map[string]bool{}
	routes := map[string]bool{}
	for i := range sdk.Operations {
		routes[sdk.Operations[i].route()] = true
	}
	for call := range c {
		best, literals := "", -1
		for route := range routes {
			if n, ok := fits(call, route); ok && (n > literals || n == literals && route < best) {
				best, literals = route, n
			}
		}
		called[best] = true
	}
	for route := range routes {
		if !called[route] {
			list = append(list, route)
		}
	}
	slices.Sort(list)
	return list
}

// route is the operation's method and path, its values blank.
func (o *Operation) route() string {
	return o.Method + " " + pathValue.ReplaceAllString(o.Path, "{}")
}

// fits says whether a request is one of a route, and with how many equal segments.
func fits(call, route string) (literals int, ok bool) {
	call, beta := strings.CutSuffix(call, "?beta=true")
	route, variant := strings.CutSuffix(route, "?beta=true")
	have, want := strings.Split(call, "/"), strings.Split(route, "/")
	if beta != variant || len(have) != len(want) {
		return 0, false
	}
	for i := range want {
		switch want[i] {
		case have[i]:
			literals++
		case "{}":
			if have[i] == "" {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	return literals, true
}
