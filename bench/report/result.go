package report

import (
	"slices"
	"time"
)

// Schema is the version of Result's JSON.
const Schema = 1

// Result is one run of the bench.
type Result struct {
	Schema  int       `json:"schema"`
	Started time.Time `json:"started"`
	Version string    `json:"version"`
	Commit  string    `json:"commit"`
	Profile string    `json:"profile"`
	Machine Machine   `json:"machine"`
	// Settings are the limits that were raised, and what else differs from the defaults.
	Settings map[string]string `json:"settings"`
	Cells    []Cell            `json:"cells"`
	Notes    []string          `json:"notes,omitempty"`
	// Flames are the files of flame graphs by the scenario that they are of.
	Flames map[string]string `json:"flames,omitempty"`
}

// Machine is where it ran.
type Machine struct {
	Cores      int    `json:"cores"`
	CPU        string `json:"cpu"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
}

// Cell is what one subject did in one case: the figures of each repetition.
type Cell struct {
	Scenario string    `json:"scenario"`
	Case     string    `json:"case"`
	Subject  string    `json:"subject"`
	Reps     []Figures `json:"reps"`
}

// Figures are values by name. Names end in their unit: _ms, _s, _kib, _per_s; others
// are counts.
type Figures map[string]float64

// Add appends a repetition's figures.
func (r *Result) Add(scenario, kase, subject string, f Figures) {
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Scenario == scenario && c.Case == kase && c.Subject == subject {
			c.Reps = append(c.Reps, f)
			return
		}
	}
	r.Cells = append(r.Cells, Cell{scenario, kase, subject, []Figures{f}})
}

// Cell is a subject's in a case; nil when it was not measured.
func (r *Result) Cell(scenario, kase, subject string) *Cell {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Scenario == scenario && c.Case == kase && c.Subject == subject {
			return c
		}
	}
	return nil
}

// Spread is the median of several values, and the smallest and largest.
type Spread struct{ Median, Low, High float64 }

func spread(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	v = slices.Clone(v)
	slices.Sort(v)
	m := v[len(v)/2]
	if len(v)%2 == 0 {
		m = (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return Spread{m, v[0], v[len(v)-1]}
}

// Of is the spread of a figure; false when no repetition has it.
func (c *Cell) Of(figure string) (Spread, bool) {
	if c == nil {
		return Spread{}, false
	}
	var v []float64
	for _, f := range c.Reps {
		if x, ok := f[figure]; ok {
			v = append(v, x)
		}
	}
	return spread(v), len(v) > 0
}
