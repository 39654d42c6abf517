package record

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
)

// Handler answers for the recordings, below the path of the node's inner socket:
//
//	GET    /recordings              all, the newest first; ?most=BYTES: as many as fit,
//	                                ?most=BYTES&began=MS&name=NAME: those that follow it
//	GET    /recordings/{name}       the file, in ranges too; one under way as far as it is
//	GET    /recordings/{name}/titles     what its source said that it played
//	PUT    /recordings/{name}/listeners  {"average": n, "most": n}
//	DELETE /recordings/{name}       for good
func (r *Recorder) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /recordings", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(page(r.List(), req.URL.Query())) // the reader may be gone
	})
	mux.HandleFunc("GET /recordings/{name}", func(w http.ResponseWriter, req *http.Request) {
		file, facts, err := r.Open(req.PathValue("name"))
		if err != nil {
			innerhttp.Refuse(w, err)
			return
		}
		defer file.Close() //nolint:errcheck // only read
		w.Header().Set("Content-Type", "audio/mpeg")
		changed := time.UnixMilli(max(facts.Ended, facts.Began+facts.DurationMS))
		http.ServeContent(w, req, facts.Name, changed, file)
	})
	mux.HandleFunc("GET /recordings/{name}/titles", func(w http.ResponseWriter, req *http.Request) {
		titles, err := r.Titles(req.PathValue("name"))
		if err != nil {
			innerhttp.Refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)                     // it would take six bytes for one
		_ = out.Encode(append([]Title{}, titles...)) // the reader may be gone
	})
	mux.HandleFunc("PUT /recordings/{name}/listeners", func(w http.ResponseWriter, req *http.Request) {
		var in struct {
			Average float64 `json:"average"`
			Most    int     `json:"most"`
		}
		if !innerhttp.Read(w, req, 1<<10, &in) {
			return
		}
		if err := r.SetListeners(req.PathValue("name"), in.Average, in.Most); err != nil {
			innerhttp.Refuse(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE /recordings/{name}", func(w http.ResponseWriter, req *http.Request) {
		if err := r.Delete(req.PathValue("name")); err != nil {
			innerhttp.Refuse(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// page is what of the list was asked for, as JSON: thousands of recordings with long titles
// do not fit into one answer. It is empty only at the end.
func page(all []Recording, asked url.Values) []byte {
	most, _ := strconv.Atoi(asked.Get("most"))
	if name := asked.Get("name"); name != "" {
		began, _ := strconv.ParseInt(asked.Get("began"), 10, 64)
		mark := Recording{Name: name, Began: began}
		all = slices.DeleteFunc(all, func(rec Recording) bool { return newestFirst(rec, mark) <= 0 })
	}
	out := []byte{'['}
	for i, rec := range all {
		rec.Titles = nil // they have a route of their own
		text, err := json.Marshal(rec)
		if err != nil {
			continue // of texts and numbers that were checked
		}
		if i > 0 {
			if most > 0 && len(out)+len(text)+2 > most {
				break
			}
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	return append(out, ']')
}
