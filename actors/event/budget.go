package event

// Scope is what a budget sums up.
type Scope string

// Scopes of a budget. A day is one of UTC.
const (
	TurnScope      Scope = "turn"
	SessionScope   Scope = "session"
	PrincipalScope Scope = "principal"
	DayScope       Scope = "day"
)

// Budget is a bound on what turns may use, and how much of it is used.
type Budget struct {
	// Name is the setting that holds the bound, such as limits.max_day_usd.
	Name  string `json:"name"`
	Scope Scope  `json:"scope"`
	// Money says that the numbers are millionths of a dollar; else they are tokens.
	Money bool  `json:"money,omitempty"`
	Limit int64 `json:"limit"`
	Used  int64 `json:"used"`
	// Lifted says that the budget holds the session no longer.
	Lifted bool `json:"lifted,omitempty"`
}
