package guide

// Insight is a finding.
type Insight struct{}
