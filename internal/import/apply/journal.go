package apply

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// entry is a line of the journal: one fact, appended once it holds, or before what may then have
// happened or not.
type entry struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"` // of the source; a login; an address
	// From is what has the ID in the source: another source, or a later one, may give it to another.
	From *plan.Source `json:"from,omitempty"`

	Key     string      `json:"key,omitempty"`     // upload: the Idempotency-Key
	Arrival string      `json:"arrival,omitempty"` // the upload is whole, and is this arrival
	Path    string      `json:"path,omitempty"`    // track: in the library
	Why     *plan.Words `json:"why,omitempty"`     // refused
	Name    string      `json:"name,omitempty"`    // playlist: about to be made under it
	Free    bool        `json:"free,omitempty"`    // playlist: it is not made, and another name is to be found
	List    int64       `json:"list,omitempty"`    // made
	Lacks   []string    `json:"lacks,omitempty"`   // playlist: ids of its tracks that had no file yet
	Hook    string      `json:"hook,omitempty"`    // webhook: made, with this id
	Had     int         `json:"had,omitempty"`     // items: how many the playlist had before those
	Sent    int         `json:"sent,omitempty"`    // items of the plan up to here are in it, or are being added
	Open    bool        `json:"open,omitempty"`    // items: being added
	Done    bool        `json:"done,omitempty"`    // the thing is complete
}

// Kinds of entries.
const (
	kindUpload   = "upload"
	kindArrival  = "arrival"
	kindTrack    = "track"
	kindRefused  = "refused"
	kindPlaylist = "playlist"
	kindItems    = "items"
	kindPerson   = "person"
	kindWebhook  = "webhook"
	kindTold     = "told" // the report was given out: with links and secrets of what was made up to here
)

// adding is how far a playlist's tracks have been added.
type adding struct {
	had, sent int
	open      bool
	before    int // sent, before what is open
}

// Journal remembers what an import has done, so that the next run goes on and does nothing twice.
type Journal struct {
	mu      sync.Mutex
	f       file
	size    int64 // of its whole lines
	dead    error // it cannot be relied on any more
	lock    *lock.Lock
	uploads map[string]upload // by id of the source
	items   map[string]adding
	hooks   map[string]hook   // by address
	people  map[string]secret // by login
	memory  plan.Memory
}

// file is where lines are kept.
type file interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// upload is one of a file.
type upload struct {
	from         plan.Source
	key, arrival string // Idempotency-Key; id of the arrival
}

// secret is of a person or webhook: what the answer to its making shows only once.
type secret struct {
	done   bool // it is made
	untold bool // no report has told it
}

type hook struct {
	secret
	id string // empty: not known to be made
}

// JournalName is the file of the journal of a station: of a running system at a host, or in a file,
// where host is empty. Every file of the station has the same, and so goes on with it.
func JournalName(system, host, id, name string) string {
	if id != "" && host != "" {
		name = "" // it may be renamed
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{system, strings.ToLower(host), id, rotation.Fold(name)}, "\n")))
	return hex.EncodeToString(sum[:8]) + ".jsonl"
}

// BusyError says that another process imports the same.
type BusyError struct{ Process string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("another import of this source is running, process %s: wait for it", e.Process)
}

// OpenJournal opens a journal in a folder, which is made, and reads what it has. A line that a kill
// left torn is cut off.
func OpenJournal(dir, name string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of the journal: %w", err)
	}
	held, err := lock.Acquire(dir, name)
	var other *lock.HeldError
	if errors.As(err, &other) {
		return nil, &BusyError{other.Process}
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{
		lock: held, uploads: map[string]upload{}, items: map[string]adding{}, hooks: map[string]hook{}, people: map[string]secret{},
		memory: plan.Memory{Tracks: map[string]plan.Brought{}, Refused: map[string]plan.Refused{}, Playlists: map[string]plan.Made{}, People: map[string]bool{}, Webhooks: map[string]bool{}},
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // made of a sum
	if err == nil {
		j.f = f
		err = j.load()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal of the import: %w", err), j.Close())
	}
	return j, nil
}

func (j *Journal) load() error {
	whole := int64(0)
	r := bufio.NewReader(j.f)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var e entry
		if json.Unmarshal(line, &e) != nil {
			break // torn by a power cut: what follows was never relied on
		}
		j.learn(e)
		whole += int64(len(line))
	}
	if err := j.f.Truncate(whole); err != nil {
		return err
	}
	j.size = whole
	_, err := j.f.Seek(whole, io.SeekStart)
	return err
}

// Close ends the journal; another run may begin.
func (j *Journal) Close() error {
	var err error
	if j.f != nil {
		err = j.f.Close()
	}
	j.lock.Release()
	return err
}

// Memory is what earlier runs brought, for the plan.
func (j *Journal) Memory() plan.Memory {
	j.mu.Lock()
	defer j.mu.Unlock()
	return plan.Memory{
		Tracks: maps.Clone(j.memory.Tracks), Refused: maps.Clone(j.memory.Refused), Playlists: maps.Clone(j.memory.Playlists),
		People: maps.Clone(j.memory.People), Webhooks: maps.Clone(j.memory.Webhooks),
	}
}

// note appends an entry, on disk when it returns. One that fails leaves nothing of its line: the
// next would be glued to it, and both be lost with all that follows.
func (j *Journal) note(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dead != nil {
		return j.dead
	}
	line = append(line, '\n')
	if _, err = j.f.Write(line); err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		err = fmt.Errorf("write the journal of the import: %w", err)
		_, back := j.f.Seek(j.size, io.SeekStart)
		if back = errors.Join(back, j.f.Truncate(j.size)); back != nil {
			j.dead = errors.Join(err, back)
		}
		return err
	}
	j.size += int64(len(line))
	j.learn(e)
	return nil
}

func (j *Journal) learn(e entry) {
	switch e.Kind {
	case kindUpload:
		j.uploads[e.ID] = upload{from: e.from(), key: e.Key}
	case kindArrival:
		u := j.uploads[e.ID]
		u.arrival = e.Arrival
		j.uploads[e.ID] = u
	case kindTrack:
		j.memory.Tracks[e.ID] = plan.Brought{From: e.from(), Path: e.Path}
	case kindRefused:
		j.memory.Refused[e.ID] = plan.Refused{From: e.from(), Why: *e.reason()}
	case kindPlaylist:
		if was := j.memory.Playlists[e.ID]; e.Free || e.Done || was.From != e.from().Title {
			delete(j.items, e.ID) // those of a list that is another, or complete
		}
		if e.Free {
			delete(j.memory.Playlists, e.ID)
			break
		}
		j.memory.Playlists[e.ID] = plan.Made{From: e.from().Title, Name: e.Name, ID: e.List, Done: e.Done, Lacks: e.Lacks}
	case kindItems:
		was := j.items[e.ID]
		now := adding{had: e.Had, sent: e.Sent, open: e.Open, before: was.sent}
		j.items[e.ID] = now
	case kindPerson:
		if j.people[e.ID] = (secret{e.Done, true}); e.Done {
			j.memory.People[e.ID] = true
		}
	case kindWebhook:
		if j.hooks[e.ID] = (hook{secret{e.Done, true}, e.Hook}); e.Done {
			j.memory.Webhooks[e.ID] = true
		}
	case kindTold:
		for login, s := range j.people {
			j.people[login] = secret{s.done, s.untold && !s.done}
		}
		for address, h := range j.hooks {
			j.hooks[address] = hook{secret{h.done, h.untold && h.id == ""}, h.id}
		}
	}
}

func (e entry) from() plan.Source {
	if e.From == nil {
		return plan.Source{}
	}
	return *e.From
}

func refusedLine(t *plan.Track, why plan.Words) entry {
	return entry{Kind: kindRefused, ID: t.ID, From: t.Source(), Why: &why}
}

func (e entry) reason() *plan.Words {
	if e.Why == nil {
		return &plan.Words{}
	}
	return e.Why
}

func (j *Journal) upload(t *plan.Track) (key, arrival string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	u := j.uploads[t.ID]
	if !u.from.Same(*t.Source()) {
		return "", ""
	}
	return u.key, u.arrival
}

func (j *Journal) path(t *plan.Track) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if b := j.memory.Tracks[t.ID]; b.From.Same(*t.Source()) {
		return b.Path
	}
	return ""
}

func (j *Journal) playlist(p *plan.Playlist) (made plan.Made, added adding) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if made = j.memory.Playlists[p.ID]; made.From != p.From {
		return plan.Made{}, adding{}
	}
	return made, j.items[p.ID]
}

// webhook is one that was about to be made.
func (j *Journal) webhook(address string) (h hook, begun bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h, begun = j.hooks[address]
	return h, begun
}

// person is one who was about to be invited.
func (j *Journal) person(login string) (s secret, begun bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, begun = j.people[login]
	return s, begun
}

// untold are logins and addresses that an earlier run made, or was about to make, and of which no
// report told the link or the secret.
type untold struct{ people, hooks map[string]bool }

func (j *Journal) untold() untold {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := untold{map[string]bool{}, map[string]bool{}}
	for login, s := range j.people {
		out.people[login] = s.untold
	}
	for address, h := range j.hooks {
		out.hooks[address] = h.untold
	}
	return out
}

// told notes that the report goes out.
func (j *Journal) told() error {
	j.mu.Lock()
	some := false
	for _, s := range j.people {
		some = some || s.untold && s.done
	}
	for _, h := range j.hooks {
		some = some || h.untold && h.id != ""
	}
	j.mu.Unlock()
	if !some {
		return nil
	}
	return j.note(entry{Kind: kindTold})
}
