package azuracast

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/import/download"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/kit/bounded"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
)

const (
	perPage   = 500
	mostPages = 400
	mostPage  = 64 << 20 // bytes of one answer
	// Of all answers together, as they are kept.
	mostAnswered      = 2_000_000 // entries
	mostAnsweredBytes = 512 << 20 // about
	entryBytes        = 512       // of an entry beside its texts
	placeBytes        = 64        // of a track's place in a playlist, of a time
)

var errAnsweredTooMuch = errors.New("it answers with more than 2,000,000 tracks, playlists and places, or 512 MiB of them: use a backup")

// remote is a running AzuraCast.
type remote struct {
	base string // without a slash at its end
	from Source

	entries, bytes int // that were kept
}

// keep counts what an answer adds.
func (r *remote) keep(entries, bytes int) error {
	r.entries += entries
	if r.bytes += bytes; r.entries > mostAnswered || r.bytes > mostAnsweredBytes {
		return errAnsweredTooMuch
	}
	return nil
}

func readAPI(ctx context.Context, from Source) (*model.Station, error) {
	base := strings.TrimSuffix(strings.TrimRight(from.Address, "/"), "/api")
	r := &remote{base: base, from: from}
	asked, err := r.station(ctx)
	if err != nil {
		return nil, err
	}
	st := &model.Station{System: System, Name: clean(asked.Name), Zone: asked.Zone, Others: asked.others, Close: func() error { return nil }}
	at := "/station/" + strconv.Itoa(asked.ID)
	within := map[int][]string{} // playlists' tracks, in no order of theirs
	if err := pages(ctx, r, at+"/files", func(f remoteFile) error {
		if f.ID == 0 || f.Path == "" {
			return nil
		}
		t := f.track()
		if err := r.keep(len(f.Playlists), entryBytes+placeBytes*len(f.Playlists)+len(t.Path)+len(t.Title)+len(t.Artist)+len(t.Album)+len(t.Genre)+len(t.Lyrics)+len(t.ISRC)); err != nil {
			return err
		}
		if from.Media != nil {
			(&mediaFolder{beside: from.Media}).find(&t)
		} else {
			t.Open = r.opening(ctx, at+"/file/"+strconv.Itoa(f.ID)+"/play", t.Path)
		}
		st.Tracks = append(st.Tracks, t)
		for _, p := range f.Playlists {
			within[p.ID] = append(within[p.ID], t.ID)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if st.Playlists, err = r.playlists(ctx, at, within); err != nil {
		return nil, err
	}
	if err := r.rest(ctx, at, st); err != nil {
		return nil, err
	}
	return st, nil
}

// rest reads what a key may not be allowed to see; then that is said, and the import goes on.
func (r *remote) rest(ctx context.Context, at string, st *model.Station) error {
	err := pages(ctx, r, at+"/streamers", func(s streamer) error {
		one := model.Streamer{Login: clean(s.Login), Name: clean(s.Name), Comment: clean(s.Comment), Off: !s.Active}
		one.When, _ = windows(s.ScheduleItems)
		st.Streamers = append(st.Streamers, one)
		return r.keep(len(one.When), entryBytes+placeBytes*len(one.When)+len(one.Login)+len(one.Name)+len(one.Comment))
	})
	if err = r.barred(st, "streamers", err); err != nil {
		return err
	}
	err = pages(ctx, r, at+"/webhooks", func(h hook) error {
		one := h.webhook()
		size := entryBytes + len(one.Name) + len(one.Type) + len(one.Address)
		for _, event := range one.Events {
			size += placeBytes + len(event)
		}
		st.Webhooks = append(st.Webhooks, one)
		return r.keep(len(one.Events), size)
	})
	return r.barred(st, "webhooks", err)
}

func (r *remote) barred(st *model.Station, kind string, err error) error {
	var refused *fetch.StatusError
	if errors.As(err, &refused) && (refused.Code == http.StatusForbidden || refused.Code == http.StatusNotFound) {
		st.Left = append(st.Left, model.Left{Kind: kind, Reason: model.Note{
			En: "The API key may not read them: give its user the right to manage the station, or use a backup.",
			Ar: "لا يملك مفتاح API صلاحية قراءتها. امنح صاحبه إدارة المحطة أو استخدم نسخة احتياطية.",
		}})
		return nil
	}
	return err
}

// get asks for one document.
func (r *remote) get(ctx context.Context, path string) ([]byte, error) {
	doc, err := r.from.Fetch.Document(ctx, fetch.Request{URL: r.base + "/api" + path, Accept: "application/json", Limit: mostPage, Header: r.key()})
	if err != nil {
		return nil, r.explained(err)
	}
	return doc.Body, nil
}

func (r *remote) strange(path string, err error) error {
	return fmt.Errorf("%s/api%s is not answered as by AzuraCast: check the address: %w", r.base, path, err)
}

// each calls use with the entries of an answer, one after the other: of what is not kept only one
// is in memory.
func each[T any](r *remote, path string, body []byte, use func(T) error) error {
	var stop error
	err := bounded.Elements(body, "rows", func(raw json.RawMessage) error {
		var one T
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		if stop = r.keep(1, 0); stop == nil {
			stop = use(one)
		}
		return stop
	})
	if err != nil && stop == nil {
		return r.strange(path, err)
	}
	return err
}

func (r *remote) key() http.Header {
	if r.from.Key == "" {
		return nil
	}
	return http.Header{"X-Api-Key": {r.from.Key}}
}

func (r *remote) explained(err error) error {
	var refused *fetch.StatusError
	if !errors.As(err, &refused) || refused.Unopened() { // then it says what to do
		return err
	}
	switch refused.Code {
	case http.StatusUnauthorized:
		return fmt.Errorf("--api-key-file: AzuraCast does not know this key: make one there under My Account, API Keys: %w", err)
	case http.StatusForbidden:
		if r.from.Key == "" {
			return fmt.Errorf("--api-key-file: AzuraCast wants an API key: make one there under My Account, API Keys: %w", err)
		}
	}
	return err
}

type apiStation struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Short  string `json:"shortcode"`
	Zone   string `json:"timezone"`
	others []string
}

// station finds the one that was asked for; one that is not public is not in the list.
func (r *remote) station(ctx context.Context) (apiStation, error) {
	body, err := r.get(ctx, "/stations")
	if err != nil {
		return apiStation{}, err
	}
	var all []apiStation
	if err := each(r, "/stations", body, func(s apiStation) error {
		all = append(all, s)
		return r.keep(0, entryBytes+len(s.Name)+len(s.Short)+len(s.Zone))
	}); err != nil {
		return apiStation{}, err
	}
	var names [][2]string
	for _, s := range all {
		names = append(names, [2]string{clean(s.Name), s.Short})
	}
	i, err := chosen(r.from.Station, names)
	if err != nil {
		if r.from.Station != "" {
			var hidden apiStation
			body, missing := r.get(ctx, "/station/"+url.PathEscape(r.from.Station))
			if missing == nil && json.Unmarshal(body, &hidden) == nil && hidden.ID > 0 {
				return hidden, nil
			}
		}
		return apiStation{}, err
	}
	out := all[i]
	for j, n := range names {
		if j != i {
			out.others = append(out.others, n[0])
		}
	}
	return out, nil
}

// pages reads a list to its end, whether it comes in pages or whole.
func pages[T any](ctx context.Context, r *remote, path string, use func(T) error) error {
	for n := 1; n <= mostPages; n++ {
		body, err := r.get(ctx, fmt.Sprintf("%s?per_page=%d&page=%d", path, perPage, n))
		if err != nil {
			return err
		}
		rows := 0
		if err := each(r, path, body, func(one T) error {
			rows++
			return use(one)
		}); err != nil {
			return err
		}
		var page struct {
			Pages int `json:"total_pages"`
		}
		_ = json.Unmarshal(body, &page) // a list is whole, and says none
		if n >= page.Pages || rows == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s has more than %d pages", path, mostPages)
}

type remoteFile struct {
	ID        int     `json:"id"`
	Path      string  `json:"path"`
	Title     string  `json:"title"`
	Artist    string  `json:"artist"`
	Album     string  `json:"album"`
	Genre     string  `json:"genre"`
	Lyrics    string  `json:"lyrics"`
	ISRC      string  `json:"isrc"`
	Length    float64 `json:"length"`
	Extra     loose   `json:"extra_metadata"`
	Playlists []struct {
		ID int `json:"id"`
	} `json:"playlists"`
}

// loose is an object, or the empty list that PHP makes of an empty one.
type loose struct{ extra }

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(b []byte) error {
	_ = json.Unmarshal(b, &l.extra) // what is no object says nothing
	return nil
}

func (f remoteFile) track() model.Track {
	t := model.Track{
		ID: strconv.Itoa(f.ID), Path: strings.TrimPrefix(f.Path, "/"), Title: clean(f.Title), Artist: clean(f.Artist), Album: clean(f.Album), Genre: clean(f.Genre),
		Lyrics: clean(f.Lyrics), ISRC: clean(f.ISRC), Length: seconds(f.Length),
	}
	cues(&t, f.Extra.extra)
	return t
}

type streamer struct {
	Login         string     `json:"streamer_username"`
	Name          string     `json:"display_name"`
	Comment       string     `json:"comments"`
	Active        bool       `json:"is_active"`
	ScheduleItems []schedule `json:"schedule_items"`
}

// playlists are a station's. AzuraCast tells the order only of those that play in one.
func (r *remote) playlists(ctx context.Context, at string, within map[int][]string) (out []model.Playlist, err error) {
	err = pages(ctx, r, at+"/playlists", func(l list) (err error) {
		if err := r.keep(len(l.ScheduleItems)+len(l.Options), entryBytes+placeBytes*(len(l.ScheduleItems)+len(l.Options))+len(l.Name)+len(l.RemoteURL)); err != nil {
			return err
		}
		l.items = within[l.ID]
		var note *model.Note
		if l.Order == "sequential" && l.Source != "remote_url" {
			if l.items, err = r.ordered(ctx, at, l); errors.As(err, new(*fetch.StatusError)) && !isAuth(err) {
				l.items, err = within[l.ID], nil
				note = &model.Note{En: "Its order could not be read: put its tracks in order, or use a backup.", Ar: "تعذّرت قراءة ترتيبها. رتّب مقاطعها أو استخدم نسخة احتياطية."}
			}
			if err != nil {
				return err
			}
		}
		p := l.playlist()
		if note != nil {
			p.Notes = append(p.Notes, *note)
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

func isAuth(err error) bool {
	var refused *fetch.StatusError
	return errors.As(err, &refused) && refused.Code == http.StatusUnauthorized
}

// placed is a track at its place in a playlist.
type placed struct {
	Weight int `json:"weight"`
	Media  struct {
		ID int `json:"id"`
	} `json:"media"`
}

func (r *remote) ordered(ctx context.Context, at string, l list) (out []string, err error) {
	path := at + "/playlist/" + strconv.Itoa(l.ID) + "/order"
	body, err := r.get(ctx, path)
	if err != nil {
		return nil, err
	}
	var all []placed
	if err := each(r, path, body, func(p placed) error {
		all = append(all, p)
		return r.keep(0, placeBytes)
	}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y placed) int { return cmp.Compare(x.Weight, y.Weight) })
	for _, one := range all {
		out = append(out, strconv.Itoa(one.Media.ID))
	}
	return out, nil
}

// opening downloads a file when it is opened.
func (r *remote) opening(ctx context.Context, path, name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		what := fetch.Request{URL: r.base + "/api" + path, Limit: mostMedia, Header: r.key()}
		return download.Open(ctx, r.from.Fetch, what, file.Room{Dir: r.from.Temp, Space: r.from.Space}, func(err error) error {
			return fmt.Errorf("download %s: %w", name, r.explained(err))
		})
	}
}
