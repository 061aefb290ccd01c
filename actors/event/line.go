package event

import "encoding/json"

// What follows is how bodies look to people, in dumps and in `run --json`: words
// instead of the stored numbers, public ids, and JSON instead of the base64 that
// stored documents have.

// The bare types have the fields without the methods: what is shown is no Body.
type (
	bareItem  Item
	bareInput Input
	bareEnd   End
	bareLeg   Leg
)

type shownItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Phase  string `json:"phase,omitempty"`
	Parent string `json:"parent,omitempty"`
	*bareItem
}

type shownInput struct {
	Items     []shownItem     `json:"items"`
	Overrides json.RawMessage `json:"overrides,omitempty"`
	Echo      json.RawMessage `json:"echo,omitempty"`
	*bareInput
}

type shownEnd struct {
	Outcome string          `json:"outcome"`
	Carry   json.RawMessage `json:"carry,omitempty"`
	*bareEnd
}

type shownLeg struct {
	Echo    json.RawMessage `json:"echo,omitempty"`
	Answers []string        `json:"answers,omitempty"`
	*bareLeg
}

// shown is the form of b for people.
func shown(b Body) any {
	switch b := b.(type) {
	case *Item:
		return showItem(b)
	case *Input:
		in := shownInput{bareInput: (*bareInput)(b), Items: make([]shownItem, len(b.Items)), Overrides: document(b.Overrides), Echo: document(b.Echo)}
		for i, it := range b.Items {
			in.Items[i] = showItem(it)
		}
		return in
	case *End:
		return shownEnd{bareEnd: (*bareEnd)(b), Outcome: b.Outcome.String(), Carry: document(b.Carry)}
	case *Leg:
		leg := shownLeg{bareLeg: (*bareLeg)(b), Echo: document(b.Echo)}
		for _, id := range b.Answers {
			leg.Answers = append(leg.Answers, id.With(PrefixItem))
		}
		return leg
	default:
		return b
	}
}

func showItem(it *Item) shownItem {
	s := shownItem{bareItem: (*bareItem)(it), ID: it.ID.With(PrefixItem), Type: it.Type.String(), Status: it.Status.String(), Phase: it.Phase.String()}
	if !it.Parent.IsZero() {
		s.Parent = it.Parent.With(PrefixItem)
	}
	return s
}

// document is a stored JSON document as it is; what is none becomes a string.
func document(b []byte) json.RawMessage {
	if len(b) == 0 || json.Valid(b) {
		return b
	}
	quoted, _ := json.Marshal(string(b)) // a string always encodes
	return quoted
}
