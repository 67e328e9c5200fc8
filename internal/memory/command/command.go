// Package command is command search: it turns what someone types, in any order
// and half finished, into a ranked list of things to do with a data set.
//
// A Catalogue holds everything that can be named (axes, phenomena, values,
// views, actions), a Searcher ranks it against an input and counts the samples.
// It follows section 3.5 of the 2023 MemAxes thesis and adds free word order,
// abbreviations and transposed letters.
package command

// Action is what a suggestion does.
type Action string

// The actions. The first four change selection and axes, the others the page.
const (
	Select    Action = "select"
	Show      Action = "show"
	Hide      Action = "hide"
	Correlate Action = "correlate"
	View      Action = "view"
	Color     Action = "color"
	Bins      Action = "bins"
	Undo      Action = "undo"
	Redo      Action = "redo"
	Invert    Action = "invert"
	Filter    Action = "filter"
	Exclude   Action = "exclude"
	Export    Action = "export"
	Help      Action = "help"
	Open      Action = "open"
	Save      Action = "save"
	Link      Action = "link"
	Theme     Action = "theme"
	Columns   Action = "columns"
	Arrange   Action = "arrange"
)

// Suggestion is one thing to do.
type Suggestion struct {
	Text   string   `json:"text"`   // the command in full, as it could be typed
	Action Action   `json:"action"` // see Action
	Where  string   `json:"where"`  // what is selected, in the selection language; empty: everything, or nothing is selected
	Axes   []string `json:"axes"`   // the columns it is about
	Score  float64  `json:"score"`  // 0 to 1
	Does   string   `json:"does"`   // a sentence of what will happen
	// Target is what a page action is about: a view, a metric, a number of
	// bins, a file format.
	Target string `json:"target,omitempty"`
	// Selects says that running it changes the selection to Where.
	Selects bool `json:"selects"`
	// Samples is how many samples Where selects; nil if it selects nothing or
	// they are not counted yet.
	Samples *int `json:"samples"`
	// Missing says why the data cannot answer; such a suggestion does nothing.
	Missing string `json:"missing,omitempty"`

	where clause
}

// Resolved reports whether Where is final. It is not as long as a quantile that
// it is made of has not been asked for.
func (s *Suggestion) Resolved() bool { return s.where == nil }

// numbers is what selections may depend on.
type numbers interface {
	// quantile is an order statistic of a column, by the nearest-rank rule.
	quantile(column string, p float64) (float64, error)
	// mean is that of all samples that have a value of the column.
	mean(column string) (float64, error)
	// extreme selects the group that has most of something among the samples
	// of a selection (empty: all).
	extreme(of extreme, where string) (string, error)
}

// clause makes the text of a selection that depends on numbers.
type clause func(numbers) (string, error)

// Context is what the page shows, which decides between show and hide.
type Context struct {
	Shown []string // columns on the axes
	// Filter is what exists at all, in the selection language: counts are of
	// the samples in it.
	Filter string
	// Most is how many suggestions are wanted; 0 means DefaultMost.
	Most int
}

// DefaultMost is the length of the list.
const DefaultMost = 10
