package desk

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	mostOrder = 256 << 10 // bytes
	// longestWait bounds how long a question for news is held.
	longestWait = 10 * time.Second
)

// Handler serves the node, at a Unix socket that only the station's user can open.
func (d *Desk) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /order", d.putOrder)
	mux.HandleFunc("GET /report", d.getReport)
	mux.HandleFunc("POST /note", d.postNote)
	mux.HandleFunc("PUT /carts", d.putCarts)
	mux.HandleFunc("POST /carts/fire", d.fireCart)
	mux.HandleFunc("POST /carts/stop", d.stopCarts)
	mux.HandleFunc("GET /sources/{id}/listen", d.getListen)
	mux.HandleFunc("DELETE /encoders/{session}", d.deleteEncoder)
	if d.opt.Recordings != nil {
		mux.Handle("/recordings", d.opt.Recordings)
		mux.Handle("/recordings/", d.opt.Recordings)
	}
	return mux
}

func (d *Desk) putOrder(w http.ResponseWriter, r *http.Request) {
	var o live.Order
	if !innerhttp.Read(w, r, mostOrder, &o) {
		return
	}
	if err := checkOrder(o); err != nil {
		innerhttp.Refuse(w, err)
		return
	}
	innerhttp.Answer(w, d.Order(o))
}

// checkOrder names the field that is wrong.
func checkOrder(o live.Order) error {
	if o.Epoch == "" {
		return fmt.Errorf("epoch: it must name the control plane: %w", station.ErrInvalid)
	}
	if o.Mode != "" && o.Mode != live.Replace && o.Mode != live.Over {
		return fmt.Errorf("mode: %.20q is neither replace nor over: %w", o.Mode, station.ErrInvalid)
	}
	sources := o.Next
	if o.Air != nil {
		sources = append([]live.Source{*o.Air}, sources...)
	}
	for _, s := range sources {
		if s.ID == "" || s.URL == "" {
			return fmt.Errorf("air, next: each source needs id and url: %w", station.ErrInvalid)
		}
	}
	return nil
}

func (d *Desk) getReport(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.FormValue("after"), 10, 64)
	ms, _ := strconv.ParseInt(r.FormValue("wait"), 10, 64)
	wait := min(max(time.Duration(ms)*time.Millisecond, 0), longestWait)
	changed, cancel := d.changed.Subscribe()
	defer cancel()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		if report := d.Report(); after == 0 || report.Version != after || wait == 0 {
			innerhttp.Answer(w, report)
			return
		}
		select {
		case <-changed:
		case <-late.C:
			wait = 0
		case <-r.Context().Done():
			return
		}
	}
}

func (d *Desk) postNote(w http.ResponseWriter, r *http.Request) {
	var note struct {
		URL   string `json:"url"`
		Muted bool   `json:"muted"`
	}
	if !innerhttp.Read(w, r, mostOrder, &note) {
		return
	}
	if !d.Mute(note.URL, note.Muted) {
		innerhttp.Refuse(w, fmt.Errorf("url: no source at the desk has it: %w", station.ErrNotFound))
		return
	}
	innerhttp.Answer(w, struct{}{})
}

// deleteEncoder sends an encoder away.
func (d *Desk) deleteEncoder(w http.ResponseWriter, r *http.Request) {
	session := r.PathValue("session")
	if !d.kick(session) {
		innerhttp.Refuse(w, fmt.Errorf("no encoder has the session %.40q: %w", session, station.ErrNotFound))
		return
	}
	innerhttp.Answer(w, struct{}{})
}

// kick ends the connection of a session. Its push is here for as long as it has its mount, so
// no other is met.
func (d *Desk) kick(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for mount, p := range d.pushes {
		if p.arrival.Session == session {
			return d.ingest.Kick(mount)
		}
	}
	return false
}
