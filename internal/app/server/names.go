package server

import (
	"net/http"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/code/symbol"
)

// putNames keeps the names and opens the run again with them. The run that
// shows the old ones is closed when no request uses it any more, so this must
// not be one that does.
func (s *Server) putNames(w http.ResponseWriter, r *http.Request) error {
	var a memory.ObjectNames
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	if _, err := symbol.ReadNamings(strings.NewReader(a.Text)); err != nil {
		return frame.BadRequest("%v", err)
	}
	again, err := s.renamed(r, a.Text)
	if err != nil {
		return err
	}
	s.Add(again)
	named := memory.Of(again)
	return s.frame.Answer(w, r, memory.ObjectNames{Text: named.Names, Saved: named.SaveNames != nil})
}

// renamed saves the names of a run and opens it anew, with the folders of sources
// and the mesh that the open one was given on the page.
func (s *Server) renamed(r *http.Request, names string) (*frame.Run, error) {
	run, release, err := s.hold(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer release()
	samples := memory.Of(run)
	if samples == nil || samples.SaveNames == nil || s.opt.Open == nil {
		return nil, frame.BadRequest("this data is no run of its own; import it with 'isobath import' to keep names")
	}
	if err := samples.SaveNames(names); err != nil {
		return nil, err
	}
	again, err := s.opt.Open(r.Context(), run.Path, func(frame.Progress) {})
	if err != nil {
		return nil, err
	}
	again.InheritSources(run)
	if err := mesh.Inherit(r.Context(), again, run); err != nil {
		again.Warnings = append(again.Warnings, err.Error())
	}
	return again, nil
}
