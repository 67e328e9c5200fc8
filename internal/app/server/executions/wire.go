package executions

// TrialAnswer is a trial of two commands: what it found, and every pair.
type TrialAnswer struct {
	Sentence string      `json:"sentence"`
	Noise    string      `json:"noise"` // in words; empty if not known
	Hints    []string    `json:"hints"`
	Metric   string      `json:"metric"` // the lane that decides
	Stopped  string      `json:"stopped"`
	Seed     uint64      `json:"seed"`
	Most     int         `json:"most"` // pairs
	A        []string    `json:"a"`    // command
	B        []string    `json:"b"`
	Lanes    []TrialLane `json:"lanes"`
	Bounds   []TrialLook `json:"bounds"` // every look that was planned, as far as it was taken
	Values   []TrialPair `json:"values"`
}

// TrialLane is one measured quantity. Change, Low and High are fractions.
type TrialLane struct {
	Lane       string   `json:"lane"`
	Provenance string   `json:"provenance"`
	A          string   `json:"a"`
	B          string   `json:"b"`
	Change     *float64 `json:"change"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Verdict    string   `json:"verdict"`
}

// TrialLook is one look at the pairs so far. Only of a look that was taken is
// more known than its bound.
type TrialLook struct {
	Pairs   int     `json:"pairs"`
	Bound   float64 `json:"bound"`
	Taken   bool    `json:"taken"`
	Score   float64 `json:"score"`
	Change  float64 `json:"change"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Verdict string  `json:"verdict"`
}

// TrialPair is one pair: seconds of the lane that decides, and the score of all
// pairs up to it.
type TrialPair struct {
	First string  `json:"first" ts:"'a' | 'b'"`
	A     float64 `json:"a"`
	B     float64 `json:"b"`
	WallA float64 `json:"wallA"`
	WallB float64 `json:"wallB"`
	Score float64 `json:"score"`
	// PathA and PathB are the recordings; empty if there are none.
	PathA string `json:"pathA"`
	PathB string `json:"pathB"`
}

// StudyAsk says along what to look for changes: a parameter, "given" for the order
// of the runs, or nothing for what the study was made with.
type StudyAsk struct {
	Order string `json:"order"`
}

// StudyAnswer is many runs as rows.
type StudyAnswer struct {
	Runs    []StudyRun    `json:"runs"`
	Columns []StudyColumn `json:"columns"`
	Order   string        `json:"order"`
	Orders  []string      `json:"orders"` // that can be asked for
	Series  []int         `json:"series"` // the runs in that order
	Laws    []StudyLaw    `json:"laws"`
	Changes []StudyChange `json:"changes"`
	Notes   []string      `json:"notes"`
}

// StudyRun is one run; Odd are the metrics in which it stands apart.
type StudyRun struct {
	Name string   `json:"name"`
	Path string   `json:"path"` // empty for a line of a table
	Odd  []string `json:"odd"`
}

// StudyColumn is one parameter or metric of all runs: numbers, or texts where not
// all are numbers.
type StudyColumn struct {
	Name      string     `json:"name"`
	Parameter bool       `json:"parameter"`
	Numbers   []*float64 `json:"numbers" ts:"ReadonlyArray<number | null>"`
	Texts     []string   `json:"texts"`
}

// StudyLaw is how a metric grows with a parameter.
type StudyLaw struct {
	Metric    string    `json:"metric"`
	Parameter string    `json:"parameter"`
	Fixed     string    `json:"fixed"` // values of other parameters, in words
	Law       string    `json:"law"`
	Exponent  float64   `json:"exponent"`
	Low       float64   `json:"low"`
	High      float64   `json:"high"`
	Error     float64   `json:"error"` // of a prediction, as a fraction
	Others    []string  `json:"others"`
	X         []float64 `json:"x"` // of the curve
	Y         []float64 `json:"y"`
}

// StudyChange is a step along the order. At is the place in the series of the
// first run after it.
type StudyChange struct {
	Metric string  `json:"metric"`
	At     int     `json:"at"`
	Before string  `json:"before"`
	After  string  `json:"after"`
	Step   float64 `json:"step"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	P      float64 `json:"p"`
	Drift  bool    `json:"drift"`
}
