package libretime

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/athir-radio/athir/internal/import/download"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/bounded"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
)

const (
	mostAnswer = 256 << 20 // bytes of one answer: LibreTime gives whole tables
	mostPages  = 2000
	mostMedia  = 2 << 30 // bytes of one file: the library takes no larger one
)

// resource is a list of the API, and the table that it shows. A column has the API's name where
// that is another: column=name.
type resource struct{ path, table, renamed string }

// resources are those that are read. Some may be barred: users to an API key, others to a login
// that is not an administrator's.
func resources() []resource {
	return []resource{
		{"files", "cc_files", "track_type_id=library cuein=cue_in cueout=cue_out isrc_number=isrc file_exists=exists filesize=size"},
		{"libraries", "cc_track_types", "type_name=name"},
		{"playlists", "cc_playlist", ""},
		{"playlist-contents", "cc_playlistcontents", "playlist_id=playlist file_id=file block_id=block stream_id=stream type=kind cuein=cue_in cueout=cue_out"},
		{"smart-blocks", "cc_block", "type=kind"},
		{"smart-block-contents", "cc_blockcontents", "block_id=block file_id=file"},
		{"smart-block-criteria", "cc_blockcriteria", "block_id=block modifier=condition criteriagroup=group"},
		{"shows", "cc_show", "has_autoplaylist=auto_playlist_enabled autoplaylist_id=auto_playlist autoplaylist_repeat=auto_playlist_repeat intro_playlist_id=intro_playlist outro_playlist_id=outro_playlist"},
		{"show-days", "cc_show_days", "show_id=show first_show=first_show_on last_show=last_show_on repeat_type=repeat_kind record=record_enabled"},
		{"show-hosts", "cc_show_hosts", "show_id=show subjs_id=user"},
		{"users", "cc_subjs", "login=username type=role"},
		{"webstreams", "cc_webstream", ""},
		{"preferences", "cc_pref", "subjid=user keystr=key valstr=value"},
		{"show-rebroadcasts", "cc_show_rebroadcast", ""},
		{"podcasts", "podcast", ""},
	}
}

// needed reports a resource without which there is no import.
func (r resource) needed() bool {
	switch r.path {
	case "users", "preferences", "webstreams", "show-rebroadcasts", "podcasts", "libraries":
		return false
	}
	return true
}

// remote is a running LibreTime.
type remote struct {
	base string // ends with /api/v2
	from Source
}

func newRemote(from Source) *remote {
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(from.Address, "/"), "/api/v2"), "/api")
	return &remote{base + "/api/v2", from}
}

func (r *remote) read(ctx context.Context) (*database, error) {
	d := newDatabase()
	for _, res := range resources() {
		if res.path == "users" && r.from.Key != "" {
			continue // a key is no user, over which LibreTime's check of rights stumbles: status 500
		}
		if err := r.list(ctx, d, res); err != nil {
			var refused *fetch.StatusError
			if !res.needed() && errors.As(err, &refused) && (refused.Code == http.StatusForbidden || refused.Code == http.StatusNotFound) {
				continue
			}
			return nil, err
		}
	}
	var info struct {
		Name string `json:"station_name"`
	}
	if body, err := r.get(ctx, r.base+"/info"); err == nil && json.Unmarshal(body, &info) == nil && info.Name != "" { // says it even without a right to preferences
		t := d.table("cc_pref")
		if err := d.add("cc_pref", t, func(column string) (string, error) {
			return map[string]string{"keystr": "station_name", "valstr": info.Name}[column], nil
		}); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (r *remote) header() http.Header {
	switch {
	case r.from.Key != "":
		return http.Header{"Authorization": {"Api-Key " + r.from.Key}}
	case r.from.User != "":
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(r.from.User+":"+r.from.Password))}}
	}
	return nil
}

// get asks for a document. One that is cut off though its connection was not is asked for again.
func (r *remote) get(ctx context.Context, address string) ([]byte, error) {
	for again := true; ; again = false {
		doc, err := r.from.Fetch.Document(ctx, fetch.Request{URL: address, Accept: "application/json", Limit: mostAnswer, Header: r.header()})
		if err != nil {
			return nil, r.explained(err)
		}
		if json.Valid(doc.Body) {
			return doc.Body, nil
		}
		if !again {
			return nil, strange(address, json.Unmarshal(doc.Body, new(json.RawMessage)))
		}
	}
}

func strange(address string, err error) error {
	return fmt.Errorf("%s is not answered as by LibreTime: check the address: %w", fetch.Redact(address), err)
}

func (r *remote) explained(err error) error {
	var refused *fetch.StatusError
	if errors.As(err, &refused) && !refused.Unopened() && (refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden) {
		if r.from.Key == "" && r.from.User != "" {
			return fmt.Errorf("--user, --password-file: LibreTime does not take this login, which must be an administrator's: %w", err)
		}
		return fmt.Errorf("--api-key-file: LibreTime does not take it: it is api_key under general in its config.yml: %w", err)
	}
	return err
}

// list reads a resource to its end: LibreTime gives it whole, and those with pages before them
// name the next.
func (r *remote) list(ctx context.Context, d *database, res resource) error {
	api := map[string]string{} // of a column
	for _, pair := range strings.Fields(res.renamed) {
		column, name, _ := strings.Cut(pair, "=")
		api[column] = name
	}
	address := r.base + "/" + res.path
	for n := 0; n < mostPages; n++ {
		body, err := r.get(ctx, address)
		if err != nil {
			return err
		}
		if err := r.keep(d, res, api, address, body); err != nil {
			return err
		}
		var page struct {
			Next string `json:"next"`
		}
		if _ = json.Unmarshal(body, &page); page.Next == "" { // a list is whole, and names none
			return nil
		}
		next, err := url.Parse(page.Next)
		if err != nil {
			return fmt.Errorf("%s: the address of its next page cannot be read", fetch.Redact(address))
		}
		address = r.base + "/" + res.path + "?" + next.RawQuery // of it only the page: it may name another host
	}
	return fmt.Errorf("%s has more than %d pages", fetch.Redact(address), mostPages)
}

// keep takes over the rows of an answer, one after the other: of what is not kept only one is in
// memory.
func (*remote) keep(d *database, res resource, api map[string]string, address string, body []byte) error {
	t := d.table(res.table)
	var stop error
	err := bounded.Elements(body, "results", func(raw json.RawMessage) error {
		if t == nil {
			d.counts[res.table]++
			return nil
		}
		var one map[string]json.RawMessage
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		stop = d.add(res.table, t, func(column string) (string, error) { return value(one, column, api[column]) })
		return stop
	})
	if err != nil && stop == nil {
		return strange(address, err)
	}
	return err
}

// value is what an answer has of a column, as a dump would. Early versions name what belongs
// together by address: http://radio.example/api/v2/files/7/ is file 7.
func value(one map[string]json.RawMessage, column, renamed string) (string, error) {
	raw, there := one[renamed]
	if !there {
		raw, there = one[column]
	}
	if !there && column == "id" {
		raw = one["item_url"]
	}
	var s string
	switch {
	case len(raw) == 0, string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", err
		}
	case raw[0] == '{', raw[0] == '[':
		return "", nil
	default:
		s = string(raw)
	}
	reference := column == "id" || strings.HasSuffix(column, "_id") || column == "subjid"
	if reference && strings.Contains(s, "/") {
		s = path.Base(strings.TrimRight(s, "/"))
	}
	return s, nil
}

// opening downloads a file when it is opened.
func (r *remote) opening(ctx context.Context) opener {
	return func(t *model.Track) {
		id, name := t.ID, t.Path
		t.Open = func() (io.ReadCloser, error) {
			what := fetch.Request{URL: r.base + "/files/" + url.PathEscape(id) + "/download", Limit: mostMedia, Header: r.header()}
			return download.Open(ctx, r.from.Fetch, what, file.Room{Dir: r.from.Temp, Space: r.from.Space}, func(err error) error {
				return fmt.Errorf("download %q: %w", name, r.explained(err))
			})
		}
	}
}
