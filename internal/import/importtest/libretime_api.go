package importtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// What the served LibreTime knows: its key, and an administrator.
const (
	LibreKey      = "3f9a1b7c5d"
	LibreUser     = "admin"
	LibrePassword = "password"
)

// LibreFault is what goes wrong once at an address whose path ends so: an answer of that status,
// with Cut half of the body and then nothing, and with Half half of it as if it were the whole.
type LibreFault struct {
	Ends      string
	Status    int
	Cut, Half bool
}

// ServedLibre is a LibreTime that answers.
type ServedLibre struct {
	*httptest.Server
	l      *Libre
	paged  bool
	mu     sync.Mutex
	faults []LibreFault
}

// Serve answers as LibreTime's API v2 does, with the faults, each once. Paged gives 1,000 rows at
// a time, and names what belongs together by address, as early versions did.
func (l *Libre) Serve(t testing.TB, paged bool, faults ...LibreFault) *ServedLibre {
	s := &ServedLibre{l: l, paged: paged, faults: faults}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Faults are those that have not happened.
func (s *ServedLibre) Faults() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults)
}

func (s *ServedLibre) fault(path string) LibreFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.faults, func(f LibreFault) bool { return strings.HasSuffix(path, f.Ends) })
	if i < 0 {
		return LibreFault{}
	}
	f := s.faults[i]
	s.faults = slices.Delete(s.faults, i, i+1)
	return f
}

func (s *ServedLibre) serve(w http.ResponseWriter, r *http.Request) {
	path, found := strings.CutPrefix(r.URL.Path, "/api/v2/")
	fault := s.fault(path)
	user, password, _ := r.BasicAuth()
	byUser := user == LibreUser && password == LibrePassword
	switch {
	case fault.Status != 0:
		w.WriteHeader(fault.Status)
		return
	case !found:
		http.NotFound(w, r)
		return
	case path == "info":
		s.answer(w, []byte(`{"station_name":"إذاعة الوادي"}`), fault)
		return
	case !byUser && r.Header.Get("Authorization") != "Api-Key "+LibreKey:
		w.WriteHeader(http.StatusUnauthorized)
		return
	case path == "users" && !byUser: // AnonymousUser.is_superuser is not callable
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if id, download := strings.CutSuffix(strings.TrimPrefix(path, "files/"), "/download"); download {
		n, _ := strconv.Atoi(id)
		if s.l.Files[n] == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "audio/mpeg")
		s.answer(w, s.l.Files[n], fault)
		return
	}
	rows, known := s.rows(path)
	if !known {
		http.NotFound(w, r)
		return
	}
	var out any = rows
	if s.paged {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		n = max(n, 1)
		from := min((n-1)*1000, len(rows))
		page := map[string]any{"count": len(rows), "next": nil, "previous": nil, "results": rows[from:min(from+1000, len(rows))]}
		if from+1000 < len(rows) {
			page["next"] = fmt.Sprintf("http://elsewhere.invalid/api/v2/%s?page=%d", path, n+1)
		}
		out = page
	}
	body, err := json.Marshal(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	s.answer(w, body, fault)
}

func (s *ServedLibre) answer(w http.ResponseWriter, body []byte, fault LibreFault) {
	if fault.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if fault.Cut || fault.Half {
		body = body[:len(body)/2]
	}
	_, _ = w.Write(body) // who asked may be gone
}

// rows are what the serializers of a resource show: all columns, under the names of its model.
func (s *ServedLibre) rows(path string) ([]map[string]any, bool) {
	table, renamed, known := libreModel(path)
	if !known {
		return nil, false
	}
	i := slices.IndexFunc(s.l.tables, func(t libreTable) bool { return t.name == table })
	if i < 0 {
		return []map[string]any{}, true
	}
	names := map[string]string{}
	for pair := range strings.FieldsSeq(renamed) {
		column, name, _ := strings.Cut(pair, ":")
		names[column] = name
	}
	out := []map[string]any{}
	for _, r := range s.l.tables[i].rows {
		one := map[string]any{}
		for n, column := range s.l.tables[i].names() {
			column = strings.Trim(column, `"`)
			name, v := column, r[n]
			if names[column] != "" {
				name = names[column]
			}
			if name == "-" {
				continue
			}
			if to := libreReference(name); s.paged && to != "" && v != nil {
				v = fmt.Sprintf("http://radio.example/api/v2/%s/%v/", to, v)
			}
			one[name] = v
		}
		if s.paged && one["id"] != nil {
			one["item_url"] = fmt.Sprintf("http://radio.example/api/v2/%s/%v/", path, one["id"])
			delete(one, "id")
		}
		out = append(out, one)
	}
	return out, true
}

// libreReference is the resource that a field leads to.
func libreReference(name string) string {
	switch name {
	case "playlist", "auto_playlist", "intro_playlist", "outro_playlist":
		return "playlists"
	case "file":
		return "files"
	case "block":
		return "smart-blocks"
	case "show":
		return "shows"
	case "user":
		return "users"
	}
	return ""
}

// libreModel is the table of a resource, and how its model (libretime_api/*/models) calls columns;
// - is one that it does not show.
func libreModel(path string) (table, renamed string, known bool) {
	switch path {
	case "files":
		return "cc_files", "track_type_id:library owner_id:owner filesize:size file_exists:exists currentlyaccessing:accessed is_scheduled:scheduled is_playlist:part_of_list utime:created_at mtime:updated_at lptime:last_played_at " +
			"editedby:edited_by cuein:cue_in cueout:cue_out year:date comments:comment isrc_number:isrc silan_check:- ftype:-", true
	case "libraries":
		return "cc_track_types", "type_name:name visibility:enabled", true
	case "playlists":
		return "cc_playlist", "utime:created_at mtime:updated_at creator_id:owner", true
	case "playlist-contents":
		return "cc_playlistcontents", "playlist_id:playlist file_id:file block_id:block stream_id:stream type:kind trackoffset:offset cliplength:length cuein:cue_in cueout:cue_out fadein:fade_in fadeout:fade_out", true
	case "smart-blocks":
		return "cc_block", "utime:created_at mtime:updated_at creator_id:owner type:kind", true
	case "smart-block-contents":
		return "cc_blockcontents", "block_id:block file_id:file trackoffset:offset cliplength:length cuein:cue_in cueout:cue_out fadein:fade_in fadeout:fade_out", true
	case "smart-block-criteria":
		return "cc_blockcriteria", "block_id:block modifier:condition criteriagroup:group", true
	case "shows":
		return "cc_show", "color:foreground_color image_path:image is_linkable:linkable has_autoplaylist:auto_playlist_enabled autoplaylist_id:auto_playlist autoplaylist_repeat:auto_playlist_repeat intro_playlist_id:intro_playlist outro_playlist_id:outro_playlist " +
			"live_stream_using_airtime_auth:live_enabled live_stream_using_custom_auth:- live_stream_user:- live_stream_pass:-", true
	case "show-days":
		return "cc_show_days", "first_show:first_show_on last_show:last_show_on day:week_day repeat_type:repeat_kind next_pop_date:repeat_next_on show_id:show record:record_enabled", true
	case "show-hosts":
		return "cc_show_hosts", "show_id:show subjs_id:user", true
	case "show-rebroadcasts":
		return "cc_show_rebroadcast", "show_id:show", true
	case "users":
		return "cc_subjs", "login:username type:role pass:-", true
	case "webstreams":
		return "cc_webstream", "", true
	case "preferences":
		return "cc_pref", "subjid:user keystr:key valstr:value", true
	case "podcasts":
		return "podcast", "", true
	}
	return "", "", false
}
