package server

import (
	"context"
	"net/http"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/formats/tabular"
)

func (s *Server) runColumns(w http.ResponseWriter, r *http.Request, run *frame.Run) error {
	var words []tabular.Wording
	if data := memory.Of(run); data != nil {
		words = tabular.Wordings(data.Data.Table)
	}
	return s.columns(w, r, run.Path, run.Reading, words)
}

func (s *Server) runAgain(w http.ResponseWriter, r *http.Request, run *frame.Run) error {
	return s.again(w, r, run.Name, run.Path, run.ID)
}

func (s *Server) jobColumns(w http.ResponseWriter, r *http.Request) error {
	b, err := s.jobs.find(r.PathValue("job"))
	if err != nil {
		return err
	}
	return s.columns(w, r, b.path, b.how, nil)
}

func (s *Server) jobAgain(w http.ResponseWriter, r *http.Request) error {
	b, err := s.jobs.find(r.PathValue("job"))
	if err != nil {
		return err
	}
	return s.again(w, r, b.now().Name, b.path, "")
}

// columns shows what a file has and what samples want.
func (s *Server) columns(w http.ResponseWriter, r *http.Request, path string, how frame.Reading, words []tabular.Wording) error {
	if path == "" {
		return frame.BadRequest("this run has no file to read again")
	}
	found, err := dataset.Columns(path)
	if err != nil {
		return frame.BadRequest("%v", err)
	}
	answer := frame.Columns{Path: path, Columns: found, Wanted: []frame.WantedColumn{}, Map: how.Map, Words: frame.List(words)}
	if answer.Map == nil {
		answer.Map = map[string]string{}
	}
	for _, want := range samples.Wanted() {
		answer.Wanted = append(answer.Wanted, frame.WantedColumn{Name: want.Name, Meaning: want.Means})
	}
	return s.frame.Answer(w, r, answer)
}

// again reads a file once more; the run made of it takes the place of the old
// one, whose link would show what is no longer assumed.
func (s *Server) again(w http.ResponseWriter, r *http.Request, name, path, old string) error {
	var how frame.Reading
	if err := frame.ReadJSON(w, r, &how); err != nil {
		return err
	}
	if path == "" || s.opt.Reopen == nil {
		return frame.BadRequest("this run has no file to read again")
	}
	if l1 := how.L1Latency; l1 != nil && (*l1 < -1 || *l1 > maxL1) {
		return frame.BadRequest("an L1 hit of %d cycles: want 0 to %d, or -1 for no assumption", *l1, maxL1)
	}
	job := s.beginAs(name, path, how, func(end frame.Job) {
		if end.State == "done" && old != "" && end.Run != old {
			s.retire(old)
		}
	})
	return s.frame.AnswerStatus(w, r, http.StatusAccepted, job)
}

// maxL1 is more than any L1 hit takes.
const maxL1 = 1000

// Reopen opens a file in the given way.
func (l *Loader) Reopen(ctx context.Context, path string, how frame.Reading, progress func(frame.Progress)) (*frame.Run, error) {
	changed := *l
	changed.Options.Map = how.Map
	if how.AllOps != nil {
		changed.Options.AllOps = *how.AllOps
	}
	if how.L1Latency != nil {
		changed.Options.L1Latency = *how.L1Latency
		changed.Options.AssumeL1 = how.L1Latency
	}
	r, err := changed.Open(ctx, path, progress)
	if err == nil {
		r.Reading = how
	}
	return r, err
}
