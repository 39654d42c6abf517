package record

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Handler answers for the recordings, below the path of the node's inner socket:
//
//	GET    /recordings              all, the newest first
//	GET    /recordings/{name}       the file, in ranges too; one under way as far as it is
//	PUT    /recordings/{name}/listeners  {"average": n, "most": n}
//	DELETE /recordings/{name}       for good
func (r *Recorder) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /recordings", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(append([]Recording{}, r.List()...)) // the reader may be gone
	})
	mux.HandleFunc("GET /recordings/{name}", func(w http.ResponseWriter, req *http.Request) {
		file, facts, err := r.Open(req.PathValue("name"))
		if err != nil {
			refuse(w, err)
			return
		}
		defer file.Close() //nolint:errcheck // only read
		w.Header().Set("Content-Type", "audio/mpeg")
		changed := time.UnixMilli(max(facts.Ended, facts.Began+facts.DurationMS))
		http.ServeContent(w, req, facts.Name, changed, file)
	})
	mux.HandleFunc("PUT /recordings/{name}/listeners", func(w http.ResponseWriter, req *http.Request) {
		var in struct {
			Average float64 `json:"average"`
			Most    int     `json:"most"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<10)).Decode(&in); err != nil || in.Average < 0 || in.Most < 0 {
			http.Error(w, "want {\"average\": n}, n at least 0", http.StatusUnprocessableEntity)
			return
		}
		if err := r.SetListeners(req.PathValue("name"), in.Average, in.Most); err != nil {
			refuse(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE /recordings/{name}", func(w http.ResponseWriter, req *http.Request) {
		if err := r.Delete(req.PathValue("name")); err != nil {
			refuse(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, station.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, station.ErrConflict):
		status = http.StatusConflict
	}
	http.Error(w, station.Reason(err), status)
}
