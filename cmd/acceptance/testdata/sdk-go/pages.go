package main

import (
	"os"
	"slices"
	"strconv"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/conversations"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

var (
	long = openai.NewClient(option.WithUnsafeAllowHTTP(), option.WithBaseURL(os.Getenv("ORACLE_PAGES_URL")+"/v1"))

	longSession, longTurn, longTurnSession = os.Getenv("ORACLE_PAGES_SESSION"), os.Getenv("ORACLE_PAGES_TURN"), os.Getenv("ORACLE_PAGES_TURN_SESSION")
	longArtifacts, longTalk                = os.Getenv("ORACLE_PAGES_ARTIFACTS"), os.Getenv("ORACLE_PAGES_CONVERSATION")
)

// pager turns pages by itself.
type pager[T any] interface {
	Next() bool
	Current() T
	Err() error
}

// ids reads a list to its end, each element checked.
func ids[T any](p pager[T], id func(T) string) (list []string) {
	for p.Next() {
		list = append(list, id(whole(p.Current(), nil)))
	}
	ok(p.Err())
	return list
}

// turned reads a long list both ways; zero is the server's own limit and order.
func turned(read func(limit param.Opt[int64], order string) []string) func() {
	return func() {
		up := read(openai.Int(100), "asc")
		if len(up) < must(strconv.Atoi(os.Getenv("ORACLE_PAGES"))) {
			fail("%d elements", len(up))
		}
		eq(len(slices.Compact(slices.Sorted(slices.Values(up)))), len(up))
		slices.Reverse(up)
		eq(read(param.Opt[int64]{}, ""), up)
		eq(read(openai.Int(99), "desc"), up)
	}
}

// A list that is paged: one entry here.
var _ = add(map[string]func(){
	"pages_of_agents": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentListParams{Limit: limit, Order: openai.BetaAgentListParamsOrder(order)}
		return ids(long.Beta.Agents.ListAutoPaging(ctx, q), func(a openai.Agent) string { return a.ID })
	}),
	"pages_of_sessions": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentSessionListParams{Limit: limit, Order: openai.BetaAgentSessionListParamsOrder(order)}
		return ids(long.Beta.Agents.Sessions.ListAutoPaging(ctx, q), func(s openai.AgentSession) string { return s.ID })
	}),
	"pages_of_session_items": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentSessionItemListParams{Limit: limit, Order: openai.BetaAgentSessionItemListParamsOrder(order)}
		return ids(long.Beta.Agents.Sessions.Items.ListAutoPaging(ctx, longTurnSession, q), itemID)
	}),
	"pages_of_session_turns": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentSessionTurnListParams{Limit: limit, Order: openai.BetaAgentSessionTurnListParamsOrder(order)}
		return ids(long.Beta.Agents.Sessions.Turns.ListAutoPaging(ctx, longSession, q), func(t openai.Turn) string { return t.ID })
	}),
	"pages_of_turn_items": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentSessionTurnItemListParams{Limit: limit, Order: openai.BetaAgentSessionTurnItemListParamsOrder(order)}
		return ids(long.Beta.Agents.Sessions.Turns.Items.ListAutoPaging(ctx, longTurnSession, longTurn, q), itemID)
	}),
	"pages_of_artifacts": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.BetaAgentSessionArtifactListParams{Limit: limit, Order: openai.BetaAgentSessionArtifactListParamsOrder(order)}
		return ids(long.Beta.Agents.Sessions.Artifacts.ListAutoPaging(ctx, longArtifacts, q), func(a openai.SessionArtifact) string { return a.ID })
	}),
	"pages_of_conversation_items": turned(func(limit param.Opt[int64], order string) []string {
		q := conversations.ItemListParams{Limit: limit, Order: conversations.ItemListParamsOrder(order)}
		return ids(long.Conversations.Items.ListAutoPaging(ctx, longTalk, q), func(it conversations.ConversationItemUnion) string { return it.ID })
	}),
	"pages_of_files": turned(func(limit param.Opt[int64], order string) []string {
		q := openai.FileListParams{Limit: limit, Order: openai.FileListParamsOrder(order)}
		return ids(long.Files.ListAutoPaging(ctx, q), func(f openai.FileObject) string { return f.ID })
	}),
})

func itemID(it openai.AgentSessionItemUnion) string { return it.ID }
