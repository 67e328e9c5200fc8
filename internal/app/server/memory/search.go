package memory

import (
	"net/http"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/command"
)

// search ranks what an input may mean. It answers at once with what is known;
// a second request with Complete asks for the rest, and a page that types on
// takes it back.
func (s routes) search(w http.ResponseWriter, r *http.Request, of *frame.Run) error {
	var a Search
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	run := Of(of)
	if run == nil { // a trace or a mesh: only what the page itself can do
		none, _ := table.New("none", nil)
		run = &Samples{Run: of, Data: query.Data{Table: none}}
	}
	if run.Engine != nil {
		if _, _, err := run.parse(a.Filter, ""); err != nil {
			return err
		}
	}
	searcher := run.searchIn()
	with := command.Context{Shown: a.Shown, Most: min(a.Most, maxSuggestions), Filter: a.Filter}
	list, err := run.suggest(r, searcher, &a, with)
	if err != nil {
		return err
	}
	answer := Found{Suggestions: list, Complete: true}
	for i := range list {
		if !list[i].Resolved() || list[i].Selects && list[i].Samples == nil {
			answer.Complete = false
		}
	}
	if strings.TrimSpace(a.Text) == "" && !a.Complete {
		answer.Complete = false
	}
	return s.Answer(w, r, answer)
}

// suggest is the list for an input, or what is worth a look without one.
func (r *Samples) suggest(req *http.Request, in *command.Searcher, a *Search, with command.Context) ([]command.Suggestion, error) {
	switch {
	case strings.TrimSpace(a.Text) == "":
		worth, err := r.worth(req, a.Complete)
		if err != nil {
			return nil, err
		}
		list := in.Propose(worth, with)
		if a.Complete {
			err = in.Fill(req.Context(), list, a.Filter)
		}
		return list, err
	case a.Complete:
		return in.Search(req.Context(), a.Text, with)
	}
	return in.Quick(a.Text, with), nil
}

// maxSuggestions bounds one list.
const maxSuggestions = 50

// searchIn returns the run's command search, which remembers counts for as long
// as the run is open.
func (r *Samples) searchIn() *command.Searcher {
	r.searched.Do(func() {
		var resources []string
		if r.Places != nil {
			for _, n := range r.Topology.Resources {
				resources = append(resources, n.ID)
			}
		}
		r.searcher = command.NewSearcher(r.Data, r.Engine, resources)
	})
	return r.searcher
}

// worth is what is worth a look; without wait only if it is known already,
// because finding it may take seconds.
func (r *Samples) worth(req *http.Request, wait bool) ([]command.Proposal, error) {
	if known := r.proposals.Load(); known != nil {
		return *known, nil
	}
	if !wait || r.Engine == nil {
		return nil, nil
	}
	insights, err := r.guideTo(req.Context()).Insights(req.Context(), nil, nil)
	if err != nil {
		return nil, err
	}
	found := []command.Proposal{}
	for _, in := range insights {
		found = append(found, command.Proposal{Text: in.Text, Where: in.Where, Score: in.Score})
	}
	r.proposals.Store(&found)
	return found, nil
}
