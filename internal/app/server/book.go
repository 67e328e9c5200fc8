package server

import (
	"fmt"
	"html"
	"net/http"

	"github.com/isobath/isobath/docs"
	"github.com/isobath/isobath/internal/app/server/frame"
)

// bookPath is where the guide is. It holds nothing of anyone's data and needs no
// token: a link leads there in a new window.
const bookPath = "/guide/"

const bookStyle = `body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.5 system-ui,sans-serif;color-scheme:light dark}
pre{overflow:auto;padding:.6em;border:1px solid #8884;border-radius:4px}code,pre{font-family:ui-monospace,monospace;font-size:90%}
table{border-collapse:collapse}td,th{border:1px solid #8886;padding:2px 8px;text-align:left;vertical-align:top}`

// book answers with a chapter of the guide, its contents, or its style.
func (s *Server) book(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("chapter")
	if name == "book.css" {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		frame.WriteBody(w, http.StatusOK, []byte(bookStyle))
		return
	}
	chapters, err := docs.Chapters()
	if err != nil {
		s.frame.Fail(w, r, err)
		return
	}
	list := ""
	for _, c := range chapters {
		if c.Name == name {
			sendBook(w, c.Title, "<p><a href=\"./\">Guide</a></p>\n"+c.HTML())
			return
		}
		list += fmt.Sprintf("<li><a href=\"%s\">%s</a>\n", html.EscapeString(c.Name), html.EscapeString(c.Title))
	}
	if name != "" {
		http.Error(w, "The guide has no such chapter. Its contents are at "+bookPath+".", http.StatusNotFound)
		return
	}
	sendBook(w, "Guide", "<h1>Guide</h1>\n<ol>\n"+list+"</ol>\n")
}

func sendBook(w http.ResponseWriter, title, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	frame.WriteBody(w, http.StatusOK, fmt.Appendf(nil, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%s · Isobath</title><link rel=\"stylesheet\" href=\"book.css\">\n%s</html>\n", html.EscapeString(title), body))
}

// mostFound is how many terms, and how many sections, a search answers with.
const mostFound = 4

// findInBook answers with the glossary, or with what of the book has some words.
func (s *Server) findInBook(w http.ResponseWriter, r *http.Request) error {
	words := r.URL.Query().Get("find")
	if words == "" {
		return s.frame.Answer(w, r, frame.Book{Terms: docs.Glossary(), Sections: []docs.Section{}})
	}
	chapters, err := docs.Chapters()
	if err != nil {
		return err
	}
	terms := docs.FindTerms(words)
	found := frame.Book{Terms: append([]docs.Term{}, terms[:min(mostFound, len(terms))]...), Sections: []docs.Section{}}
	for _, section := range docs.Find(chapters, words) {
		if section.Chapter != docs.GlossaryName && len(found.Sections) < mostFound { // its terms are in the answer
			found.Sections = append(found.Sections, section)
		}
	}
	return s.frame.Answer(w, r, found)
}
