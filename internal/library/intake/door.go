package intake

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/station"
)

// Header has the id of the Arrival that an upload became.
const Header = "X-Intake-Id"

const (
	mostName   = 255  // characters of a file's name
	mostFolder = 1000 // and of the folders that it was dropped with
)

// UploadOptions are those of the uploads that lead here. What is left to fill in is Dir, Base,
// Name and Problem. Dir must be on the disk of Options.Dir: a large file would take longer to
// be copied from another one than an upload's last request waits.
func (in *Intake) UploadOptions() resume.Options {
	l := in.limits
	return resume.Options{
		Keys: []resume.Key{
			{Name: "filename", Longest: mostName}, {Name: "folder", Longest: mostFolder}, {Name: "batch", Longest: 64},
			{Name: "category", Longest: 16}, {Name: "replace", Longest: mostFolder},
			{Name: "filetype", Idle: true}, {Name: "relativePath", Idle: true},
		},
		Taker: door{in}, Gate: door{in}, Log: in.log, Now: in.opt.Now, Space: in.opt.Space,
		// Staff drop whole collections, a few files at a time, from one address.
		Limits: resume.Limits{
			Size: l.Size, Uploads: l.Arrivals, Bytes: l.Bytes, ClientUploads: l.Arrivals, ClientBytes: l.Bytes,
			Creations: 200, CreationsEvery: 100 * time.Millisecond, Reserve: l.Reserve,
		},
		Refusals: resume.Refusals{
			Empty: refuse(Empty), NoRoom: refuse(NoRoom), TooMany: refuse(TooMany), TooFast: refuse(TooFast), Taken: errTaken,
			TooLarge: func(limit int64) error { return &Refusal{Code: TooLarge, Limit: limit} },
		},
	}
}

var errTaken = errors.New("the upload is whole, and among the arrivals: drop it there")

// door is the Intake as resume knows it.
type door struct{ in *Intake }

// Admit implements resume.Gate: what can be refused before the first byte is.
func (d door) Admit(_ context.Context, meta map[string]string, size int64, _ resume.From) error {
	in := d.in
	if !media.Playable(plainName(meta["filename"])) {
		return refuse(KindOfFile)
	}
	if c := station.Category(meta["category"]); c != "" && !choosable(c) {
		return refuse(NoCategory)
	}
	if p := meta["replace"]; p != "" {
		if _, err := in.replaced(p); err != nil {
			return err
		}
	}
	n, bytes := in.load()
	if n >= in.limits.Arrivals || bytes+size > in.limits.Bytes {
		return refuse(TooMany)
	}
	if err := in.ready(size); err != nil {
		return err
	}
	return in.room(in.opt.Dir, size)
}

// choosable reports a category that an upload can be given: one of the station's own, and not
// what listeners have sent.
func choosable(c station.Category) bool { return c.Valid() && c != station.Social }

// load counts what waits.
func (in *Intake) load() (n int, bytes int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.entries {
		if !e.placed() {
			n++
			bytes += e.Size
		}
	}
	return n, bytes
}

// replaced is the track that a file is to replace.
func (in *Intake) replaced(p string) (station.Track, error) {
	t, ok := in.opt.Library.Find(p)
	if !ok || !filepath.IsLocal(p) || path.Clean(p) != p || !media.Playable(path.Base(p)) {
		return station.Track{}, refuse(ReplaceGone)
	}
	if _, post := station.PostOf(p); post {
		return station.Track{}, refuse(ReplaceGone)
	}
	return t, nil
}

// idOf is the arrival that an upload becomes. The upload's own id is a secret.
func idOf(upload string) string {
	sum := sha256.Sum256([]byte("intake " + upload))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:idLength])
}

const idLength = 26

// Take implements resume.Taker: the row first, then the file, so that a kill between the two
// leaves a row that the same upload's next call finds.
func (d door) Take(ctx context.Context, f resume.Finished) (resume.Receipt, error) {
	in, id := d.in, idOf(f.ID)
	receipt := resume.Receipt{Header: id}
	k, known := in.get(id)
	if !known {
		if here, err := there(in.disk, f.Path); err != nil || !here {
			return receipt, err // it was taken before, and dropped or forgotten since
		}
		var err error
		if k, err = in.announce(ctx, id, f); err != nil {
			return nil, err
		}
	}
	if k.Here {
		return receipt, nil
	}
	to := in.file(&k)
	here, err := there(in.disk, to)
	switch {
	case err != nil:
	case here: // a kill came before the last step of the move: else it could be taken twice
		if err = in.disk.Remove(f.Path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	default:
		err = move(ctx, in.disk, f.Path, to, id)
	}
	if err != nil {
		return nil, fmt.Errorf("take an upload in: %w", err)
	}
	_, err = in.changeOne(ctx, id, func(k *kept) error { k.Here = true; return nil })
	return receipt, err
}

// announce saves the row of an upload whose file is not here yet.
func (in *Intake) announce(ctx context.Context, id string, f resume.Finished) (kept, error) {
	k := kept{Upload: f.Path, Arrival: Arrival{
		ID: id, Batch: clip(f.Meta["batch"], 64), Name: plainName(f.Meta["filename"]), Folder: clip(f.Meta["folder"], mostFolder),
		Size: f.Size, At: in.opt.Now(), By: clip(f.From.Name, mostText), State: Waiting, Category: station.Category(f.Meta["category"]),
	}}
	if !choosable(k.Category) { // the gate lets none through
		k.Category = ""
	}
	k.Ext = strings.ToLower(path.Ext(k.Name))
	if !media.Playable(k.Name) { // the gate lets none through
		k.Ext = ".mp3"
	}
	if p := f.Meta["replace"]; p != "" {
		// A track that has left meanwhile is missed when it is to be replaced.
		k.Replace = p
		if t, err := in.replaced(p); err == nil {
			k.Category = t.Category
		}
	}
	return k, in.enter(ctx, k)
}

// enter adds a new arrival.
func (in *Intake) enter(ctx context.Context, k kept) error {
	in.desk.Lock()
	defer in.desk.Unlock()
	if err := save(ctx, in.db, k); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.entries[k.ID] = &entry{kept: k}
	return nil
}

// ready refuses while nothing can be placed in the media folder: it is away, or its disk is
// nearly full.
func (in *Intake) ready(size int64) error {
	if err := in.present(); err != nil {
		return err
	}
	if onOneDisk(in.opt.Dir, in.opt.Media) {
		size = 0
	}
	return in.room(in.opt.Media, size)
}

// present refuses where the media folder is away.
func (in *Intake) present() error {
	if err := media.Present(in.opt.Media, in.opt.Library.Tracks()); err != nil {
		return &Refusal{Code: AwayMedia, Note: station.Reason(err)}
	}
	return nil
}

// room refuses where a disk would have less than its reserve left.
func (in *Intake) room(dir string, size int64) error {
	free, all, err := in.opt.Space(dir)
	if errors.Is(err, os.ErrNotExist) {
		return &Refusal{Code: AwayMedia, Note: err.Error()}
	}
	if err != nil {
		return fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	if reserve := min(uint64(in.limits.Reserve), all/20); free < reserve+uint64(max(size, 0)) {
		return &Refusal{Code: NoRoom, Note: fmt.Sprintf("%d MB are free in %s", free>>20, dir)}
	}
	return nil
}
