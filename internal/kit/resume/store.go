package resume

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// An upload is two files. ID.part holds its bytes, and its size is the offset. ID.json,
// always replaced whole, holds a record; it says Complete before the upload is handed on,
// so that a part that is missing afterwards was taken and not lost, and has the receipt
// after it. What the two do not explain together is removed at the next start.
const (
	partSuffix   = ".part"
	recordSuffix = ".json"
)

// record is ID.json.
type record struct {
	ID       string            `json:"id"`
	Size     int64             `json:"size"`
	Pairs    map[string]string `json:"pairs"`
	From     From              `json:"from"`
	Key      string            `json:"key,omitempty"` // Idempotency-Key
	Complete bool              `json:"complete,omitempty"`
	Receipt  Receipt           `json:"receipt,omitempty"`
	Taken    int64             `json:"taken,omitempty"` // Unix ms; with it there is a receipt
}

// entry is an upload. Who holds it changes it, with Uploads.mu; all others read it under
// that.
type entry struct {
	record
	offset int64
	last   time.Time // of the last byte, or of the creation
	holder *hold     // nil: nobody
	yields bool      // once its request has ended, unless it is whole by then

	tryAt time.Time     // when whole and not taken: the next try
	pause time.Duration // before the one after it
}

func (e *entry) taken() bool { return e.Taken != 0 }
func (e *entry) whole() bool { return e.offset == e.Size }

func (u *Uploads) expires(e *entry) time.Time {
	if e.taken() {
		return time.UnixMilli(e.Taken).Add(u.limits.Keep)
	}
	return e.last.Add(u.limits.Expire)
}

func (u *Uploads) expired(e *entry, now time.Time) bool { return !now.Before(u.expires(e)) }

// oldest returns the n whose last byte is the longest ago.
func oldest(entries []*entry, n int) []*entry {
	if n <= 0 {
		return nil
	}
	slices.SortFunc(entries, func(a, b *entry) int { return a.last.Compare(b.last) })
	return entries[:min(n, len(entries))]
}

func (u *Uploads) path(id, suffix string) string { return filepath.Join(u.opts.Dir, id+suffix) }

// erase removes the files of an upload that is no longer among the entries.
func (u *Uploads) erase(id string) {
	for _, suffix := range []string{recordSuffix, partSuffix} {
		if err := os.Remove(u.path(id, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.opts.Log.Warn("cannot remove a file of an upload", "err", err)
		}
	}
}

func (u *Uploads) save(r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return file.WriteAtomic(u.path(r.ID, recordSuffix), text, 0o600)
}

var (
	plainID = regexp.MustCompile(`^[A-Za-z0-9]{26}$`)
	ourName = regexp.MustCompile(`^([A-Za-z0-9]{26})(\.part|\.json|\.json\.new)$`)
)

// load reads the folder.
func (u *Uploads) load() error {
	if err := os.MkdirAll(u.opts.Dir, 0o700); err != nil {
		return err
	}
	found, err := os.ReadDir(u.opts.Dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		id, ours := strings.CutSuffix(f.Name(), recordSuffix)
		if !ours || !plainID.MatchString(id) {
			continue
		}
		e, err := u.read(id)
		if err == nil {
			u.entries[id] = e
			continue
		}
		u.opts.Log.Warn("an upload is removed, which nothing can be made of", "err", err)
	}
	for _, f := range found {
		name := ourName.FindStringSubmatch(f.Name())
		if name == nil {
			continue
		}
		e := u.entries[name[1]]
		if e != nil && (name[2] == recordSuffix || name[2] == partSuffix && !e.taken()) {
			continue
		}
		if err := os.Remove(filepath.Join(u.opts.Dir, f.Name())); err != nil {
			u.opts.Log.Warn("cannot remove a leftover of an upload", "err", err)
		}
	}
	return nil
}

func (u *Uploads) read(id string) (*entry, error) {
	path := u.path(id, recordSuffix)
	text, err := os.ReadFile(path) //nolint:gosec // our own folder
	if err != nil {
		return nil, err
	}
	e := &entry{}
	if err := json.Unmarshal(text, &e.record); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if e.ID != id || e.Size <= 0 {
		return nil, errors.New("record: is not of this upload")
	}
	if e.taken() && e.Receipt == nil && u.opts.Earlier != nil {
		e.Receipt = u.opts.Earlier(text)
	}
	info, err := os.Stat(u.path(id, partSuffix))
	if errors.Is(err, fs.ErrNotExist) && (e.Complete || e.taken()) {
		e.offset = e.Size
		info, err = os.Stat(path)
	} else if err == nil {
		e.offset = info.Size()
	}
	if err != nil {
		return nil, fmt.Errorf("its bytes are missing: %w", err)
	}
	if e.taken() {
		e.offset = e.Size
	}
	if e.offset > e.Size {
		return nil, errors.New("it is longer than it was to be")
	}
	e.last = info.ModTime()
	return e, nil
}

// create makes room for an upload, and its files. The request holds it from the start.
func (u *Uploads) create(r record, f *feed) (*hold, error) {
	h, gone, err := u.reserve(r, f)
	if err != nil {
		return nil, err
	}
	for _, e := range gone {
		u.opts.Log.Info("an unfinished upload gave its place up", "address", e.From.Address, "bytes", e.offset)
		u.erase(e.ID)
	}
	err = os.WriteFile(u.path(r.ID, partSuffix), nil, 0o600)
	if err == nil {
		err = u.save(r)
	}
	if err != nil {
		u.drop(h)
		h.release()
		return nil, u.diskError("make an upload", err)
	}
	return h, nil
}

// reserve checks the limits and enters an upload. Where all places are taken, gone gave
// theirs up.
func (u *Uploads) reserve(r record, f *feed) (h *hold, gone []*entry, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing {
		return nil, nil, errClosing
	}
	if r.Key != "" && u.keyed(r.Key) != nil {
		return nil, nil, fmt.Errorf("an upload with this Idempotency-Key is being made: try again: %w", station.ErrConflict)
	}
	now, l := u.opts.Now(), u.limits
	all, mine, wide := u.tally(r.From.Address)
	if r.From.Address != "" && (mine.over(l.ClientUploads, l.ClientBytes, r.Size) || wide.over(8*l.ClientUploads, 8*l.ClientBytes, r.Size)) {
		return nil, nil, u.errTooMany()
	}
	defer func() {
		if err != nil {
			for _, e := range gone {
				u.entries[e.ID] = e
			}
		}
	}()
	for all.over(l.Uploads, l.Bytes, r.Size) {
		e := u.idlest(now)
		if e == nil {
			e = u.crowding(all, r)
		}
		if e == nil {
			return nil, gone, u.errNoRoom()
		}
		delete(u.entries, e.ID)
		all.remove(e)
		gone = append(gone, e)
	}
	if err := u.room(all.missing + r.Size + l.Reserve); err != nil {
		return nil, gone, err
	}
	e := &entry{record: r, last: now}
	u.entries[r.ID] = e
	return u.holdLocked(e, f), gone, nil
}

// keyed is the upload that was made with an Idempotency-Key; nil where there is none.
func (u *Uploads) keyed(key string) *entry {
	for _, e := range u.entries {
		if e.Key == key {
			return e
		}
	}
	return nil
}

// tally counts the unfinished uploads: all, those of an address, and those of the site
// that it lies in.
func (u *Uploads) tally(address string) (all, mine, wide sum) {
	wider := client.Wider(address)
	for _, e := range u.entries {
		if e.taken() {
			continue
		}
		all.add(e)
		if e.From.Address == address {
			mine.add(e)
		}
		if wider != "" && client.Wider(e.From.Address) == wider {
			wide.add(e)
		}
	}
	return all, mine, wide
}

// sum counts uploads that are not taken.
type sum struct {
	n       int
	bytes   int64 // announced
	missing int64 // of them not here yet
}

func (s *sum) add(e *entry) {
	s.n++
	s.bytes += e.Size
	s.missing += e.Size - e.offset
}

func (s *sum) remove(e *entry) {
	s.n--
	s.bytes -= e.Size
	s.missing -= e.Size - e.offset
}

// over reports that one more of so many bytes is too much.
func (s *sum) over(n int, bytes, more int64) bool { return s.n >= n || s.bytes+more > bytes }

// idlest is the unfinished upload that got its last byte longest ago, among those that got
// none for Yield: whoever fills all places with what he does not send keeps nobody out.
func (u *Uploads) idlest(now time.Time) *entry {
	var idle []*entry
	for _, e := range u.entries {
		if e.holder == nil && !e.taken() && !e.whole() && now.Sub(e.last) >= u.limits.Yield {
			idle = append(idle, e)
		}
	}
	for _, e := range oldest(idle, 1) {
		return e
	}
	return nil
}

// crowding is the upload that gives its place up where no other is idle: of the network that
// has the most of what is wanting, places or bytes, the one that got its last byte longest
// ago. Whoever sends a byte now and then to all that one network may have keeps nobody out;
// nil where the newcomer's own network would then have as much. One that a request goes on
// with is ended first, and its place is free for the newcomer's next try.
func (u *Uploads) crowding(all sum, r record) *entry {
	of := map[string]*sum{}
	for _, e := range u.entries {
		if name := client.Network(e.From.Address); name != "" && !e.taken() && !e.whole() {
			if of[name] == nil {
				of[name] = &sum{}
			}
			of[name].add(e)
		}
	}
	mine := sum{1, r.Size, 0}
	if had := of[client.Network(r.From.Address)]; had != nil {
		mine.n, mine.bytes = mine.n+had.n, mine.bytes+had.bytes
	}
	much := func(s *sum) int64 { return int64(s.n) }
	if all.n < u.limits.Uploads {
		much = func(s *sum) int64 { return s.bytes }
	}
	most, name := much(&mine), ""
	for network, s := range of {
		if n := much(s); n > most || n == most && name > network { // the same one whatever the order
			most, name = n, network
		}
	}
	if name == "" {
		return nil
	}
	var free, held []*entry
	for _, e := range u.entries {
		switch {
		case client.Network(e.From.Address) != name || e.taken() || e.whole():
		case e.holder == nil:
			free = append(free, e)
		default:
			held = append(held, e)
		}
	}
	for _, e := range oldest(free, 1) {
		return e
	}
	for _, e := range oldest(held, 1) {
		e.yields = true
		e.holder.feed.end(u.errYielded())
	}
	return nil
}

// room refuses where the disk has less than so many bytes free.
func (u *Uploads) room(need int64) error {
	free, _, err := u.opts.Space(u.opts.Dir)
	if err != nil {
		return u.diskError("look at the disk", err)
	}
	if free < uint64(max(need, 0)) { //nolint:gosec // not negative
		return u.errNoRoom()
	}
	return nil
}

// diskError logs a fault of the disk, with its paths, and tells the sender what he may know.
func (u *Uploads) diskError(what string, err error) error {
	u.opts.Log.Error("cannot "+what, "err", err)
	if file.Full(err) {
		return u.errNoRoom()
	}
	return fmt.Errorf("the station's disk does not take it: try again later: %w", station.ErrUnavailable)
}

// Piece is after how many bytes the room is looked at and the disk waited for. Without the
// latter a whole upload would reach the disk at once, and the database's commits with it
// would wait.
const Piece = 8 << 20

// write appends to the upload what src has. Every byte that it counts is on disk when it
// returns; those of a process that was killed are in the system's memory at least.
func (u *Uploads) write(e *entry, src io.Reader) (written int64, err error) {
	f, err := os.OpenFile(u.path(e.ID, partSuffix), os.O_WRONLY, 0)
	if err != nil {
		return 0, u.diskError("open an upload", err)
	}
	defer f.Close() //nolint:errcheck // it is synced
	if _, err := f.Seek(e.offset, io.SeekStart); err != nil {
		return 0, u.diskError("open an upload", err)
	}
	for done := false; !done; {
		if err := u.room(u.limits.Reserve / 2); err != nil {
			return written, err
		}
		n, err := io.CopyN(f, src, Piece)
		if done = errors.Is(err, io.EOF); done {
			err = nil
		}
		if err = errors.Join(err, f.Sync()); err != nil {
			// What of the piece is there is right, and is given up: it is not known to be on disk.
			return written, u.diskError("write an upload", errors.Join(err, f.Truncate(e.offset)))
		}
		written += n
		u.mu.Lock()
		e.offset += n
		if n > 0 {
			e.last = u.opts.Now()
		}
		u.mu.Unlock()
	}
	return written, nil
}

// finish hands an upload that is whole on to the Taker. It may be called again after any
// failure, and after a restart.
func (u *Uploads) finish(ctx context.Context, h *hold) error {
	e := h.entry
	err := u.handOn(ctx, e)
	if err != nil {
		u.mu.Lock()
		e.pause = min(cmp.Or(2*e.pause, time.Minute), time.Hour)
		e.tryAt = u.opts.Now().Add(e.pause)
		u.mu.Unlock()
	}
	return err
}

func (u *Uploads) handOn(ctx context.Context, e *entry) error {
	r := e.record
	if !r.Complete {
		r.Complete = true
		if err := u.save(r); err != nil {
			return u.diskError("record that an upload is whole", err)
		}
		u.amend(e, r)
	}
	// Whether the sender is still there changes nothing: the file is whole.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTime)
	defer cancel()
	receipt, err := u.opts.Taker.Take(ctx, Finished{ID: r.ID, Path: u.path(r.ID, partSuffix), Size: r.Size, Meta: maps.Clone(r.Pairs), From: r.From})
	if err != nil {
		return err
	}
	r.Receipt, r.Taken = receipt, u.opts.Now().UnixMilli()
	u.amend(e, r)
	if err := u.save(r); err != nil {
		// It is taken. After a restart Take is asked once more, and answers the same.
		_ = u.diskError("record a receipt", err)
		return nil
	}
	if err := os.Remove(u.path(r.ID, partSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.opts.Log.Warn("cannot remove an upload that was taken", "err", err)
	}
	return nil
}

// takeTime bounds a call of Take.
const takeTime = time.Minute

func (u *Uploads) amend(e *entry, r record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	e.record = r
}

// drop takes a held upload out of the entries and off the disk.
func (u *Uploads) drop(h *hold) {
	u.mu.Lock()
	delete(u.entries, h.entry.ID)
	u.mu.Unlock()
	u.erase(h.entry.ID)
}
