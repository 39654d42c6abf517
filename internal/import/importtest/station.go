package importtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/resume"
)

// StationKey is the key that a Station asks for.
const StationKey = "key-of-the-station"

// Station keeps what an import needs of a station's API: the real uploads, and of the rest the
// contract. Each list of arrivals takes those on their way a step further.
type Station struct {
	URL string
	// OnArrival is called when a file has come; nil: nothing.
	OnArrival func()
	// Late is for how many looks at the library it does not list a track that it has placed.
	Late int

	mu       sync.Mutex
	taken    map[string]bool // uploads
	Arrivals []*Arrival
	Tracks   []*StationTrack
	Lists    []*StationList
	People   []map[string]string
	Hooks    []map[string]any
	Patches  int
	version  int
}

// Arrival is a file on its way.
type Arrival struct {
	ID, State, Path string
	Meta            map[string]string
	data            []byte
}

// StationTrack is a track of its library.
type StationTrack struct {
	Path, Title, Category string
	Data                  []byte
	Said                  map[string]any
	Times                 int // that something was said of it
	late                  int // looks until it is listed
}

// StationList is one of its playlists.
type StationList struct {
	ID, Version int64
	Settings    map[string]any
	Items       []string
}

// NewStation starts one.
func NewStation(t testing.TB) *Station {
	t.Helper()
	s := &Station{taken: map[string]bool{}}
	const base = "/api/station/library/uploads/"
	u, err := resume.Open(resume.Options{
		Dir: t.TempDir(), Base: base, Taker: s, Log: slog.New(slog.DiscardHandler),
		Keys:   []resume.Key{{Name: "filename", Longest: 255}, {Name: "folder", Longest: 1000}, {Name: "batch", Longest: 64}, {Name: "category", Longest: 16}, {Name: "replace", Longest: 1000}},
		Limits: resume.Limits{Uploads: 5000, Bytes: 64 << 30, ClientUploads: 5000, ClientBytes: 64 << 30, Creations: 1 << 20, Reserve: 1},
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = u.Run(ctx) })
	mux := http.NewServeMux()
	mux.Handle(base, u)
	mux.Handle(strings.TrimSuffix(base, "/"), u)
	mux.HandleFunc("/api/", s.api)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Station-Key") != StationKey {
			http.Error(w, `{"detail":"a key is needed"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.URL = server.URL
	t.Cleanup(func() { server.Close(); cancel(); all.Wait() })
	return s
}

// Take implements resume.Taker.
func (s *Station) Take(_ context.Context, f resume.Finished) (resume.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := "arrival-" + f.ID
	if !s.taken[f.ID] {
		data, err := os.ReadFile(f.Path)
		if err != nil {
			return nil, err
		}
		s.taken[f.ID] = true
		s.Arrivals = append(s.Arrivals, &Arrival{ID: id, State: "waiting", Meta: f.Meta, data: data})
		if s.OnArrival != nil {
			s.OnArrival()
		}
	}
	return resume.Receipt{"X-Intake-Id": id}, nil
}

// step takes arrivals a step further. A file that begins with BAD is refused; one whose bytes a
// track has is asked about.
func (s *Station) step() {
	for _, a := range s.Arrivals {
		switch a.State {
		case "waiting":
			a.State = "looking"
		case "looking":
			alike := slices.ContainsFunc(s.Tracks, func(t *StationTrack) bool { return bytes.Equal(t.Data, a.data) })
			switch {
			case bytes.HasPrefix(a.data, []byte("BAD")):
				a.State = "refused"
			case alike:
				a.State = "asks"
			default:
				a.State = "taking"
			}
		case "taking":
			a.State = "taken"
			s.place(a)
		}
	}
}

func (s *Station) place(a *Arrival) {
	name := a.Meta["filename"]
	title := strings.TrimSuffix(name, path.Ext(name))
	a.Path = a.Meta["category"] + "/" + name
	for n := 2; slices.ContainsFunc(s.Tracks, func(t *StationTrack) bool { return t.Path == a.Path }); n++ {
		a.Path = fmt.Sprintf("%s/%s (%d)%s", a.Meta["category"], title, n, path.Ext(name))
	}
	s.AddTrack(&StationTrack{Path: a.Path, Title: title, Category: a.Meta["category"], Data: a.data, late: s.Late})
}

// AddTrack puts a track into the library.
func (s *Station) AddTrack(t *StationTrack) {
	t.Said = map[string]any{}
	s.version++
	s.Tracks = append(s.Tracks, t)
}

func (s *Station) api(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	at := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/")
	list, isList := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, "/api/"), "station/playlists/")
	switch {
	case isList:
		s.list(w, r, list, body)
	case at == "GET station/library":
		s.browse(w, r)
	case at == "PATCH station/library":
		s.say(w, body)
	case at == "GET station/library/intake":
		s.step()
		files := []any{}
		for _, a := range s.Arrivals {
			f := map[string]any{"id": a.ID, "state": a.State, "path": a.Path}
			if a.State == "refused" {
				f["reason"] = map[string]string{"code": "damaged", "en": "It is damaged.", "ar": "الملف تالف."}
			}
			files = append(files, f)
		}
		answer(w, map[string]any{"files": files})
	case at == "POST station/library/intake/take":
		for _, a := range s.Arrivals {
			if slices.Contains(body["ids"].([]any), any(a.ID)) && a.State == "asks" { //nolint:forcetypeassert // a test
				a.State = "taking"
			}
		}
		answer(w, map[string]any{"taken": 1})
	case at == "GET station/playlists":
		out := []any{}
		for _, l := range s.Lists {
			out = append(out, l.json())
		}
		answer(w, map[string]any{"playlists": out})
	case at == "POST station/playlists":
		s.makeList(w, body)
	case at == "GET status":
		answer(w, map[string]any{"station": map[string]any{"timezone": "Asia/Riyadh"}})
	case at == "GET people":
		users := []any{}
		for _, p := range s.People {
			users = append(users, p)
		}
		answer(w, map[string]any{"users": users})
	case at == "POST people":
		s.invite(w, body)
	default:
		s.hooks(w, at, body)
	}
}

func (s *Station) invite(w http.ResponseWriter, body map[string]any) {
	login := fmt.Sprint(body["login"])
	if slices.ContainsFunc(s.People, func(p map[string]string) bool { return p["login"] == login }) {
		refuse(w, http.StatusConflict, "login is taken")
		return
	}
	s.People = append(s.People, map[string]string{"login": login, "name": fmt.Sprint(body["name"]), "role": fmt.Sprint(body["role"])})
	w.WriteHeader(http.StatusCreated)
	answer(w, map[string]any{"user": map[string]any{"login": login}, "token": "token-of-" + login, "until": 1})
}

func (s *Station) hooks(w http.ResponseWriter, at string, body map[string]any) {
	switch {
	case at == "GET station/webhooks":
		answer(w, map[string]any{"webhooks": s.Hooks})
	case at == "POST station/webhooks":
		h := map[string]any{"id": strconv.Itoa(len(s.Hooks) + 1), "url": body["url"], "events": body["events"], "enabled": true}
		s.Hooks = append(s.Hooks, h)
		w.WriteHeader(http.StatusCreated)
		answer(w, h)
	case strings.HasPrefix(at, "PUT station/webhooks/"):
		n, _ := strconv.Atoi(path.Base(at))
		s.Hooks[n-1]["enabled"] = body["enabled"]
		answer(w, s.Hooks[n-1])
	default:
		refuse(w, http.StatusNotFound, "no such address: "+at)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"detail": why, "reason": map[string]string{"en": why, "ar": "مرفوض"}})
}

func (s *Station) browse(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	out := []any{}
	listed := slices.DeleteFunc(slices.Clone(s.Tracks), func(t *StationTrack) bool { t.late--; return t.late >= 0 })
	for _, t := range listed[min(offset, len(listed)):min(offset+limit, len(listed))] {
		row := map[string]any{"path": t.Path, "title": t.Title, "artist": "", "album": "", "genre": "", "category": t.Category, "durationMs": (len(t.Data) - 44) / 16, "size": len(t.Data), "edited": t.Times > 0}
		for k, v := range t.Said {
			if k == "title" || k == "artist" || k == "album" || k == "genre" {
				row[k] = v
			}
		}
		out = append(out, row)
	}
	answer(w, map[string]any{"generation": s.version, "total": len(listed), "tracks": out})
}

func (s *Station) say(w http.ResponseWriter, body map[string]any) {
	s.Patches++
	for _, p := range body["paths"].([]any) { //nolint:forcetypeassert // a test
		for _, t := range s.Tracks {
			if t.Path == p {
				t.Times++
				for k, v := range body["set"].(map[string]any) { //nolint:forcetypeassert // a test
					t.Said[k] = v
				}
			}
		}
	}
	answer(w, map[string]any{})
}

func (l *StationList) json() map[string]any {
	out := map[string]any{"id": l.ID, "version": l.Version, "tracks": len(l.Items)}
	for k, v := range l.Settings {
		out[k] = v
	}
	return out
}

func (s *Station) makeList(w http.ResponseWriter, body map[string]any) {
	if slices.ContainsFunc(s.Lists, func(l *StationList) bool { return l.Settings["name"] == body["name"] }) {
		refuse(w, http.StatusConflict, "there is a playlist of that name")
		return
	}
	l := &StationList{ID: int64(len(s.Lists) + 1), Version: 1, Settings: body}
	s.Lists = append(s.Lists, l)
	answer(w, map[string]any{"playlist": l.json(), "deed": 1})
}

func (s *Station) list(w http.ResponseWriter, r *http.Request, at string, body map[string]any) {
	id, what, _ := strings.Cut(at, "/")
	n, _ := strconv.Atoi(id)
	if n < 1 || n > len(s.Lists) {
		refuse(w, http.StatusNotFound, "no such playlist")
		return
	}
	l := s.Lists[n-1]
	if r.Method != http.MethodGet && fmt.Sprint(body["version"]) != strconv.FormatInt(l.Version, 10) {
		refuse(w, http.StatusConflict, "it was changed meanwhile")
		return
	}
	var refused []any
	switch {
	case what == "items" && r.Method == http.MethodGet:
		answer(w, map[string]any{"version": l.Version, "total": len(l.Items), "items": []any{}})
		return
	case what == "items":
		for _, p := range body["add"].(map[string]any)["paths"].([]any) { //nolint:forcetypeassert // a test
			if !slices.ContainsFunc(s.Tracks, func(t *StationTrack) bool { return t.Path == p }) {
				refused = append(refused, map[string]any{"path": p, "en": "no such track", "ar": "لا يوجد"})
				continue
			}
			l.Items = append(l.Items, fmt.Sprint(p))
		}
		l.Version++
	case r.Method == http.MethodPut:
		delete(body, "version")
		l.Settings, l.Version = body, l.Version+1
	}
	answer(w, map[string]any{"playlist": l.json(), "deed": 1, "refused": refused})
}
