package lists

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/playlistfile"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/lists/match"
	"github.com/athir-radio/athir/internal/station"
)

// far is what was fetched of remote playlists.
type far struct {
	wake  chan struct{}
	slots chan struct{} // one for each fetch at a time

	mu      sync.Mutex
	all     map[int64]remote
	matched map[int64]matched
}

func newFar() far {
	return far{wake: make(chan struct{}, 1), slots: make(chan struct{}, together), matched: map[int64]matched{}}
}

// remote is what was last fetched from an address. A failure keeps what was there before.
type remote struct {
	address        string
	fetched, tried int64 // Unix ms; 0: never
	changed        int64 // when the entries were last others; Unix ms
	entries        []playlistfile.Entry
	visit
}

// visit is how the last one went, and what the next one says of it.
type visit struct {
	ETag         string   `json:"etag,omitempty"`
	LastModified string   `json:"lastModified,omitempty"`
	Problem      *Problem `json:"problem,omitempty"`
	Failures     int      `json:"failures,omitempty"` // in a row
}

// matched is what of a remote playlist the library has.
type matched struct {
	tracks  []station.Track // that it is of
	changed int64           // as are the entries of that time
	paths   []string
	left    []playlistfile.Entry
}

// mostUnmatched is how many entries are named that the library does not have.
const mostUnmatched = 100

// paths are the tracks of a remote playlist; matcher is asked for where they are not known.
func (f *far) paths(id int64, address string, tracks []station.Track, matcher func() *match.Matcher) []string {
	f.mu.Lock()
	r, m := f.all[id], f.matched[id]
	f.mu.Unlock()
	if r.address != address || len(r.entries) == 0 {
		return nil
	}
	if station.Same(m.tracks, tracks) && m.changed == r.changed {
		return m.paths
	}
	m = matching(matcher(), r.entries)
	m.tracks, m.changed = tracks, r.changed
	f.mu.Lock()
	defer f.mu.Unlock()
	f.matched[id] = m
	return m.paths
}

func matching(m *match.Matcher, entries []playlistfile.Entry) (out matched) {
	for _, e := range entries {
		if path, ok := m.Find(e); ok {
			out.paths = append(out.paths, path)
		} else {
			out.left = append(out.left, e)
		}
	}
	return out
}

// show adds to a playlist what was fetched of it.
func (f *far) show(p *Playlist) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.all[p.ID]
	if !ok || r.address != p.Address {
		return
	}
	p.FetchedAt, p.Problem = r.fetched, r.Problem
	left := f.matched[p.ID].left
	for _, e := range left[:min(len(left), mostUnmatched)] {
		p.Unmatched = append(p.Unmatched, shownEntry(e))
	}
}

func shownEntry(e playlistfile.Entry) Entry {
	title := e.Title
	if e.Creator != "" {
		title = e.Creator + " - " + title
	}
	return Entry{title, fetch.Redact(e.Location)}
}

func (f *far) tell() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// get is what was fetched of a playlist from an address.
func (f *far) get(id int64, address string) remote {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.all[id]; r.address == address {
		return r
	}
	return remote{address: address}
}

const (
	// againAfter is the pause after a first failure; it doubles with each, up to the playlist's own.
	againAfter = 5 * time.Minute
	// lookAround is how often is looked which playlists are due.
	lookAround = 30 * time.Second
	// together is how many are fetched at a time: one that hangs holds up no other.
	together = 4
)

// due is when a remote playlist is to be fetched.
func (r *record) due(was remote) time.Time {
	if was.tried == 0 {
		return time.Time{}
	}
	every := time.Duration(r.EveryMinutes) * time.Minute
	if was.Failures > 0 {
		every = min(every, againAfter<<min(was.Failures-1, 10))
	}
	return time.UnixMilli(was.tried).Add(every)
}

// runRemotes fetches playlists that are due until ctx ends.
func (l *Lists) runRemotes(ctx context.Context) {
	ticks := time.NewTicker(lookAround)
	defer ticks.Stop()
	for ctx.Err() == nil {
		var round sync.WaitGroup
		for _, r := range l.book.Load().sorted() {
			was, now := l.far.get(r.id, r.Address), l.opt.Now()
			ahead := was.tried > now.Add(time.Minute).UnixMilli() // the clock was set back
			if r.Kind != Remote || (!r.On && was.tried > 0) || (now.Before(r.due(was)) && !ahead) {
				continue
			}
			round.Go(func() {
				if err := l.fetch(ctx, r.id); err != nil && ctx.Err() == nil && !errors.Is(err, station.ErrNotFound) {
					l.opt.Log.Warn("cannot keep what was fetched of a playlist", "playlist", r.Name, "err", err)
				}
			})
		}
		round.Wait()
		select {
		case <-ctx.Done():
		case <-ticks.C:
		case <-l.far.wake:
		}
	}
}

// Refresh fetches a remote playlist now. What goes wrong at its address is told by the playlist.
func (l *Lists) Refresh(ctx context.Context, id int64) (Playlist, error) {
	r, err := l.book.Load().record(id)
	if err != nil {
		return Playlist{}, err
	}
	if r.Kind != Remote {
		return Playlist{}, station.Wrong("kind", "must be remote: this playlist is not fetched", "هذه القائمة لا تُجلب من عنوان")
	}
	if err := l.fetch(ctx, id); err != nil {
		return Playlist{}, err
	}
	return l.Get(id)
}

// fetch fetches a remote playlist and keeps it.
func (l *Lists) fetch(ctx context.Context, id int64) error {
	select {
	case l.far.slots <- struct{}{}:
		defer func() { <-l.far.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := l.book.Load().record(id)
	if err != nil || r.Kind != Remote {
		return err
	}
	now := l.far.get(id, r.Address)
	got, entries, err := l.entries(ctx, r.Address, now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now.tried = l.opt.Now().UnixMilli()
	if err != nil {
		now.Problem, now.Failures = problemOf(err), now.Failures+1
		l.opt.Log.Warn("cannot fetch a remote playlist: it keeps its tracks", "playlist", r.Name, "address", fetch.Redact(r.Address), "err", err)
	} else {
		now.fetched, now.Problem, now.Failures = now.tried, nil, 0
		now.ETag, now.LastModified = got.ETag, got.LastModified
		if !got.NotModified && !slices.Equal(now.entries, entries) {
			now.entries, now.changed = entries, max(now.changed+1, now.tried)
		}
	}
	return l.keep(ctx, id, now)
}

// keep writes what was fetched, unless the playlist has gone elsewhere meanwhile.
func (l *Lists) keep(ctx context.Context, id int64, now remote) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	r, err := l.book.Load().record(id)
	if err != nil {
		return err
	}
	if r.Kind != Remote || r.Address != now.address {
		return nil
	}
	others := now.changed != l.far.get(id, now.address).changed
	err = l.opt.DB.Write(ctx, func(tx *sql.Tx) error { return writeRemote(ctx, tx, id, now, others) })
	if err != nil {
		return fmt.Errorf("write a remote playlist: %w", err)
	}
	l.far.mu.Lock()
	l.far.all[id] = now
	l.far.mu.Unlock()
	if !others {
		return nil
	}
	before := l.found.Load().paths[id]
	l.look()
	if !slices.Equal(before, l.found.Load().paths[id]) {
		l.own.Tell()
	}
	return nil
}

// writeRemote writes what was fetched; of entries that stayed only how it went.
func writeRemote(ctx context.Context, tx *sql.Tx, id int64, now remote, others bool) error {
	text, err := json.Marshal(now.visit)
	if err != nil {
		return err
	}
	if !others {
		done, err := tx.ExecContext(ctx, `UPDATE lists_remote SET fetched = ?, tried = ?, state = ? WHERE list = ? AND address = ?`, now.fetched, now.tried, string(text), id, now.address)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
	}
	entries, err := json.Marshal(now.entries)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO lists_remote (list, fetched, tried, address, state, entries) VALUES (?, ?, ?, ?, ?, ?)`, id, now.fetched, now.tried, now.address, string(text), string(entries))
	return err
}

// ErrStream says that an address is no playlist of tracks.
var ErrStream = errors.New("it is a stream, not a playlist of tracks: a stream goes on the air from the live desk")

func (l *Lists) entries(ctx context.Context, address string, was remote) (fetch.Document, []playlistfile.Entry, error) {
	d, err := l.opt.Fetch.Document(ctx, fetch.Request{URL: address, ETag: was.ETag, LastModified: was.LastModified})
	if err != nil || d.NotModified {
		return d, nil, err
	}
	name := "playlist"
	if u, err := url.Parse(d.URL); err == nil {
		name = path.Base(u.Path)
	}
	list, err := playlistfile.Read(bytes.NewReader(d.Body), name)
	if err != nil {
		return d, nil, &unreadableError{err}
	}
	if list.Live {
		return d, nil, ErrStream
	}
	return d, list.Entries, nil
}

type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

// problemOf says in both languages why a playlist could not be fetched.
func problemOf(err error) *Problem {
	var (
		blocked *fetch.BlockedError
		large   *fetch.TooLargeError
		status  *fetch.StatusError
		late    *fetch.TimeoutError
		bad     *unreadableError
	)
	p := &Problem{En: err.Error(), Ar: "تعذّر الاتصال بالعنوان"}
	switch {
	case errors.Is(err, ErrStream):
		p.Ar = "هذا العنوان بث مباشر وليس قائمة تشغيل. أضفه مصدرًا للبث المباشر"
	case errors.As(err, &blocked):
		p.Ar = "العنوان داخل شبكة المحطة، فلا يُجلب منه شيء"
	case errors.As(err, &large):
		p.Ar = "الملف في هذا العنوان أكبر من أن يكون قائمة تشغيل"
	case errors.As(err, &status):
		p.Ar = fmt.Sprintf("ردّ الخادم بالرمز %d", status.Code)
	case errors.As(err, &late):
		p.Ar = "لم يردّ الخادم في الوقت المناسب"
	case errors.As(err, &bad):
		p.Ar = "ما في هذا العنوان ليس قائمة تشغيل مقروءة"
	}
	return p
}

func readRemotes(ctx context.Context, db store.Querier) (map[int64]remote, error) {
	all := map[int64]remote{}
	err := store.Each(ctx, db, func(rows *sql.Rows) error {
		var id int64
		var r remote
		var state, entries []byte
		if err := rows.Scan(&id, &r.fetched, &r.tried, &r.address, &state, &entries); err != nil {
			return err
		}
		if err := errors.Join(json.Unmarshal(state, &r.visit), json.Unmarshal(entries, &r.entries)); err != nil {
			return fmt.Errorf("playlist %d: %w", id, err)
		}
		r.changed = r.fetched
		all[id] = r
		return nil
	}, `SELECT list, fetched, tried, address, state, entries FROM lists_remote`)
	return all, err
}

// chosen are the tracks that an operator may choose: listeners' posts air by themselves.
func chosen(tracks []station.Track) []station.Track {
	if !slices.ContainsFunc(tracks, func(t station.Track) bool { return t.Submitter != "" }) {
		return tracks
	}
	return slices.DeleteFunc(slices.Clone(tracks), func(t station.Track) bool { return t.Submitter != "" })
}

// Match finds entries of a playlist in the library: of each its path, empty where there is none,
// and those of which there is none.
func (l *Lists) Match(entries []playlistfile.Entry) (paths []string, left []Entry) {
	m := match.New(chosen(l.opt.Registry.Tracks()))
	paths, left = make([]string, len(entries)), []Entry{}
	for i, e := range entries {
		if path, ok := m.Find(e); ok {
			paths[i] = path
		} else {
			left = append(left, shownEntry(e))
		}
	}
	return paths, left
}
