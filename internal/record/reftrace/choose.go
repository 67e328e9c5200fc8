package reftrace

// choose picks the backend.
func (j *job) choose() (Backend, string) {
	if j.Backend != Auto && j.Backend != "" {
		return j.Backend, "as asked"
	}
	return Step, "it needs nothing but the program"
}
