package importtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the API key that Serve knows.
const Key = "0123456789abcdef:fedcba9876543210"

// Fault is what goes wrong once at an address whose path ends so: an answer of that status, or
// with Cut half of the body and then nothing.
type Fault struct {
	Ends   string
	Status int
	Cut    bool
}

// Serve answers as AzuraCast's API does, in pages, with the faults, each once.
func (a *Azura) Serve(t testing.TB, faults ...Fault) *httptest.Server {
	s := &served{a: a, faults: faults}
	out := httptest.NewServer(s)
	t.Cleanup(out.Close)
	return out
}

type served struct {
	a      *Azura
	mu     sync.Mutex
	faults []Fault
}

func (s *served) fault(path string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return strings.HasSuffix(path, f.Ends) })
	if i < 0 {
		return Fault{}, false
	}
	f := s.faults[i]
	s.faults = slices.Delete(s.faults, i, i+1)
	return f, true
}

// ServeHTTP implements http.Handler.
func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api")
	f, wrong := s.fault(path)
	if wrong && f.Status != 0 {
		if f.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, `{"code":0,"type":"Exception"}`, f.Status)
		return
	}
	if path == "/stations" {
		var all []map[string]any
		for _, st := range s.a.Stations {
			all = append(all, map[string]any{"id": st.ID, "name": st.Name, "shortcode": st.Short, "timezone": st.Zone, "mounts": []any{}})
		}
		answer(w, all)
		return
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 3 || parts[0] != "station" {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("X-API-Key") != Key {
		http.Error(w, `{"code":403,"type":"NotLoggedInException"}`, http.StatusForbidden)
		return
	}
	for _, st := range s.a.Stations {
		if strconv.Itoa(st.ID) == parts[1] {
			st.serve(w, r, parts[2:], f.Cut)
			return
		}
	}
	http.NotFound(w, r)
}

func (s AzuraStation) serve(w http.ResponseWriter, r *http.Request, parts []string, cut bool) {
	switch {
	case parts[0] == "files":
		paged(w, r, s.Media, func(m AzuraMedia) any { return s.file(m) })
	case parts[0] == "playlists":
		paged(w, r, s.Lists, func(l AzuraList) any { return l.json() })
	case parts[0] == "streamers":
		paged(w, r, s.Streamers, func(p AzuraStreamer) any {
			return map[string]any{"id": p.ID, "streamer_username": p.Login, "streamer_password": "", "display_name": p.Name, "comments": p.Comment, "is_active": !p.Off, "schedule_items": timesOf(p.Times)}
		})
	case parts[0] == "webhooks":
		paged(w, r, s.Webhooks, func(h AzuraWebhook) any {
			return map[string]any{"id": h.ID, "name": h.Name, "type": h.Type, "is_enabled": !h.Off, "triggers": h.Events, "config": map[string]any{"webhook_url": h.Target}}
		})
	case len(parts) == 3 && parts[0] == "playlist" && parts[2] == "order":
		s.order(w, parts[1])
	case len(parts) == 3 && parts[0] == "file" && parts[2] == "play":
		s.play(w, r, parts[1], cut)
	default:
		http.NotFound(w, r)
	}
}

func (s AzuraStation) order(w http.ResponseWriter, id string) {
	out := []any{}
	for _, l := range s.Lists {
		if strconv.Itoa(l.ID) == id {
			for i, m := range l.Items {
				out = append(out, map[string]any{"id": i, "weight": i + 1, "media": map[string]any{"id": m}})
			}
		}
	}
	answer(w, out)
}

func (s AzuraStation) play(w http.ResponseWriter, r *http.Request, id string, cut bool) {
	for _, m := range s.Media {
		if strconv.Itoa(m.ID) != id || m.File == nil {
			continue
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, m.ID))
		if cut {
			w.Header().Set("Content-Length", strconv.Itoa(len(m.File)))
			_, _ = w.Write(m.File[:len(m.File)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, m.Path, time.Time{}, bytes.NewReader(m.File))
		return
	}
	http.NotFound(w, r)
}

func (s AzuraStation) file(m AzuraMedia) any {
	within := []any{}
	for _, l := range s.Lists {
		if slices.Contains(l.Items, m.ID) {
			within = append(within, map[string]any{"id": l.ID, "name": l.Name})
		}
	}
	return map[string]any{
		"id": m.ID, "unique_id": fmt.Sprintf("%024x", m.ID), "path": m.Path, "title": m.Title, "artist": m.Artist, "album": m.Album, "genre": m.Genre, "isrc": nil, "lyrics": nil,
		"length": m.Length, "extra_metadata": json.RawMessage(m.extra()), "custom_fields": []any{}, "playlists": within,
	}
}

func (l AzuraList) json() any {
	return map[string]any{
		"id": l.ID, "name": l.Name, "description": nil, "type": l.Type, "source": l.Source, "order": l.Order, "remote_url": orNull(l.RemoteURL), "remote_type": orNull(l.RemoteType),
		"is_enabled": !l.Off, "is_jingle": l.Jingle, "play_per_songs": l.PerSongs, "play_per_minutes": l.PerMinutes, "play_per_hour_minute": l.Minute, "weight": l.Weight,
		"backend_options": strings.Split(l.Options, ","), "schedule_items": timesOf(l.Times), "num_songs": len(l.Items),
	}
}

func timesOf(all []AzuraTime) []any {
	out := []any{}
	for i, t := range all {
		days := []int{}
		for d := range strings.SplitSeq(t.Days, ",") {
			if n, err := strconv.Atoi(d); err == nil {
				days = append(days, n)
			}
		}
		out = append(out, map[string]any{"id": i, "start_time": t.Start, "end_time": t.End, "start_date": orNull(t.From), "end_date": orNull(t.Until), "days": days, "loop_once": t.LoopOnce})
	}
	return out
}

// paged answers as AzuraCast's Paginator does.
func paged[T any](w http.ResponseWriter, r *http.Request, all []T, show func(T) any) {
	each, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	each, page = max(each, 1), max(page, 1)
	rows := []any{}
	for i := (page - 1) * each; i < min(page*each, len(all)); i++ {
		rows = append(rows, show(all[i]))
	}
	answer(w, map[string]any{"page": page, "per_page": each, "total": len(all), "total_pages": max(1, (len(all)+each-1)/each), "links": map[string]any{}, "rows": rows})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
