package grid

import "context"

// Dump is one step of a mesh over time, read when it is asked for.
type Dump struct {
	Files   []string
	Time    float64 // simulated time; never an iteration
	HasTime bool
	Load    func(context.Context) (*Mesh, error)
}

// OneDump makes the opener of a format whose files hold one step each.
func OneDump(read func(path string) (*Mesh, error)) func(path string) ([]Dump, error) {
	return func(path string) ([]Dump, error) {
		return []Dump{{Files: []string{path}, Load: func(context.Context) (*Mesh, error) { return read(path) }}}, nil
	}
}

// TimedDumps makes the opener of a format whose files hold several instants.
func TimedDumps(times func(path string) ([]float64, error), read func(path string, step int) (*Mesh, error)) func(path string) ([]Dump, error) {
	return func(path string) ([]Dump, error) {
		instants, err := times(path)
		if err != nil {
			return nil, err
		}
		dumps := make([]Dump, max(1, len(instants)))
		for i := range dumps {
			dumps[i] = Dump{Files: []string{path}, Load: func(context.Context) (*Mesh, error) { return read(path, i) }}
			if i < len(instants) {
				dumps[i].Time, dumps[i].HasTime = instants[i], true
			}
		}
		return dumps, nil
	}
}
