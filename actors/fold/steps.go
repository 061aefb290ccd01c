package fold

import "github.com/agenthost/agenthost/actors/event"

// maxSteps is the most that Steps returns.
const maxSteps = 4

// Steps is how many steps ev adds to its turn. A step is one frame of a wire
// that numbers its frames inside a turn (Responses' sequence_number), so a
// cursor into such a stream is a look-up in the stored events. wires/responses
// tests that it renders exactly this many frames.
func Steps(ev *event.Event) int32 {
	switch ev.Kind {
	case event.InputAccepted:
		if in, ok := ev.Body.(*event.Input); ok && in.Waiting {
			return 2 // created, queued
		}
		return 1
	case event.TurnStarted, event.TextDelta, event.ReasoningDelta, event.TurnEnded,
		event.TurnWaiting, event.LegStarted, event.TurnResumed:
		return 1
	case event.ItemStarted:
		switch itemType(ev) {
		case event.Message, event.Reasoning:
			return 2 // item added, part added
		case event.WebSearch:
			return 3 // item added, call in progress, searching
		case event.Approval:
			return 2 // item added, item done: the caller's answer is no part of it
		default: // of a function call item added, arguments delta and done, item done
			return 4 // item added, call in progress, arguments delta, arguments done
		}
	case event.ItemDone:
		switch itemType(ev) {
		case event.Message, event.Reasoning:
			return 3 // text done, part done, item done
		case event.WebSearch:
			if ev.Body.(*event.Item).Status != event.Done {
				return 1 // item done: the wire has no event for a search that failed
			}
			return 2 // call completed, item done
		case event.FunctionCall, event.Approval:
			return 0 // done when it was asked
		default:
			return 2 // call completed or failed, item done
		}
	default:
		return 0
	}
}

func itemType(ev *event.Event) event.ItemType {
	if it, ok := ev.Body.(*event.Item); ok {
		return it.Type
	}
	return 0
}
