package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const (
	// inboxQuiet is how long a file must have lain unchanged before it counts as
	// whole: longer than a copy over a network pauses.
	inboxQuiet = 10 * time.Second
	// rejected is the inbox's folder of what was not taken.
	rejected = "rejected"
)

// Inbox is a folder the operator puts files into: inbox/<category>/… for a deck,
// anywhere else in it for whichever deck suits. Links in it are not followed.
// Hidden and unfinished files, and those still being written, are left alone.
type Inbox struct {
	Dir   string        // required; made when something looks into it
	Quiet time.Duration // a file's rest before it counts; 10 s when 0, none when negative

	mu   sync.Mutex
	seen map[string]sighting // by ID
}

// sighting is when a file was first seen as its ID says it is. It stands in where
// a wrong clock makes the file look newer than now.
type sighting struct{ first, last time.Time }

// Name is NameInbox.
func (in *Inbox) Name() string { return NameInbox }

// Search lists the files for w's category, those that wait longest first. With
// no category it lists them all.
func (in *Inbox) Search(ctx context.Context, w Want) ([]Candidate, error) {
	root, err := in.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	var found []Candidate
	var failed []error
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := list(root, dir)
		if err != nil {
			failed = append(failed, err)
		}
		for _, entry := range entries {
			rel := path.Join(dir, entry.Name())
			switch {
			case ctx.Err() != nil:
				return
			case hidden(rel) || rel == rejected:
			case entry.IsDir():
				walk(rel)
			case !entry.Type().IsRegular() || unfinished(rel):
			default:
				c, rested, err := in.look(rel, entry)
				if err != nil {
					failed = append(failed, err)
				} else if rested && (w.Category == "" || c.Category == w.Category) && !w.known(NameInbox, c.ID) {
					found = append(found, c)
				}
			}
		}
	}
	walk(".")
	in.forget()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortStableFunc(found, func(a, b Candidate) int { return a.Published.Compare(b.Published) })
	return found[:min(len(found), max(0, w.Target))], errors.Join(failed...)
}

// list reads a folder whose name may be any bytes, which fs.FS does not allow.
func list(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) { // moved away meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	entries, err := f.ReadDir(-1)
	if err != nil {
		return entries, fmt.Errorf("read the inbox: %w", err)
	}
	return entries, nil
}

func (in *Inbox) open() (*os.Root, error) {
	if err := os.MkdirAll(in.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("open the inbox: %w", err)
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the inbox: %w", err)
	}
	return root, nil
}

// look makes a candidate of a file, and says whether it has rested.
func (in *Inbox) look(rel string, entry fs.DirEntry) (Candidate, bool, error) {
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) { // moved away meanwhile
		return Candidate{}, false, nil
	}
	if err != nil {
		return Candidate{}, false, fmt.Errorf("read the inbox: %w", err)
	}
	if len(rel) > 900 {
		return Candidate{}, false, fmt.Errorf("inbox: the path of %q is too long: move the file to a higher folder", Clean(path.Base(rel)))
	}
	c := Candidate{
		Source: NameInbox, ID: inboxID(rel, info), Licensor: "operator", Category: folderCategory(rel),
		Published: info.ModTime(), Size: info.Size(),
	}
	c.Artist, c.Title = titleOf(rel)
	return c, in.rested(c.ID, info), nil
}

// inboxID names a file and the state it was seen in: another file put in the
// same place is another candidate.
func inboxID(rel string, info fs.FileInfo) string {
	return rel + "?" + strconv.FormatInt(info.Size(), 10) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}

// relOf is the inverse of inboxID.
func relOf(id string) (string, error) {
	i := strings.LastIndexByte(id, '?')
	if i < 1 {
		return "", fmt.Errorf("inbox: %q is not a path in the inbox", Clean(id))
	}
	return id[:i], nil
}

// rested reports whether nothing about the file changed for a while. The change
// time tells most: unlike the modification time, a copying program cannot set it.
func (in *Inbox) rested(id string, info fs.FileInfo) bool {
	quiet := in.Quiet
	if quiet == 0 {
		quiet = inboxQuiet
	}
	now := time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.seen == nil {
		in.seen = map[string]sighting{}
	}
	s, before := in.seen[id]
	if !before {
		s.first = now
	}
	s.last = now
	in.seen[id] = s
	if before && now.Sub(s.first) >= quiet {
		return true
	}
	changed := info.ModTime()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		changed = time.Unix(stat.Ctim.Unix())
	}
	return now.Sub(changed) >= quiet
}

// forget drops what was not seen for a day.
func (in *Inbox) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for id, s := range in.seen {
		if time.Since(s.last) > 24*time.Hour {
			delete(in.seen, id)
		}
	}
}

// folderCategory reads the category from the first folder, as the media folder
// does: case, spaces and hyphens do not matter. A file elsewhere has none.
func folderCategory(rel string) station.Category {
	first, _, inside := strings.Cut(rel, "/")
	c := station.Category(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(first)))
	if !inside || !c.Valid() {
		return ""
	}
	return c
}

func hidden(rel string) bool { return strings.HasPrefix(path.Base(rel), ".") }

// unfinished knows the names under which browsers and transfer programs keep a
// file that is on its way.
func unfinished(rel string) bool {
	name := strings.ToLower(path.Base(rel))
	for _, end := range []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart", ".!qb", "~"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// Fetch copies the file, so that nothing done to the copy reaches the operator's
// own.
func (in *Inbox) Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (_ Fetched, err error) {
	rel, err := relOf(c.ID)
	if err != nil {
		return Fetched{}, lasting{err}
	}
	root, err := in.open()
	if err != nil {
		return Fetched{}, err
	}
	defer root.Close() //nolint:errcheck // only read
	f, info, err := openPlain(root, rel)
	if err != nil {
		return Fetched{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	if inboxID(rel, info) != c.ID {
		return Fetched{}, fmt.Errorf("inbox: %q changed after it was listed", c.Title)
	}
	file := filepath.Join(dir, workName(c, "sound"))
	defer func() {
		if err != nil {
			_ = os.Remove(file)
		}
	}()
	if err := copyFile(ctx, f, file, info.Size(), progress); err != nil {
		return Fetched{}, fmt.Errorf("copy from the inbox: %w", err)
	}
	if info, err = f.Stat(); err != nil || inboxID(rel, info) != c.ID {
		return Fetched{}, fmt.Errorf("inbox: %q changed while it was copied", c.Title)
	}
	to, err := named(file, rel, c)
	if err != nil {
		return Fetched{}, fmt.Errorf("name the copy: %w", err)
	}
	return Fetched{File: to, Candidate: c}, nil
}

// openPlain opens a regular file, and nothing that a link or a pipe put in its
// place leads to.
func openPlain(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(rel)
	if err != nil {
		return nil, nil, fmt.Errorf("inbox: %w", err)
	}
	if !before.Mode().IsRegular() {
		return nil, nil, lasting{errors.New("inbox: not a plain file")}
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("inbox: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = errors.New("inbox: another file has taken its name")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// copyFile copies at most size bytes, and fails when there are fewer.
func copyFile(ctx context.Context, from io.Reader, to string, size int64, progress func(done, total int64)) error {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	for done := int64(0); err == nil && done < size; {
		var n int64
		n, err = io.CopyN(out, from, min(8<<20, size-done))
		if done += n; progress != nil {
			progress(done, size)
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	return errors.Join(err, out.Close())
}
