package desk

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// File is an upload.
type File struct {
	ID   string `json:"file" doc:"Names it in plan and apply"`
	Name string `json:"name" doc:"As its sender called it"`
	Size int64  `json:"size" doc:"Bytes"`
}

// held is an upload on the disk, with what lies beside it.
type held struct {
	File
	At   int64 `json:"at"` // epoch milliseconds
	uses int
}

const (
	partEnds    = ".part" // of an upload that is not whole
	besideEnds  = ".json"
	longestName = 120
)

// load reads what is kept, and removes what belongs to none of it.
func (d *Desk) load() error {
	all, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		id, beside := strings.CutSuffix(e.Name(), besideEnds)
		if !beside || e.IsDir() {
			continue
		}
		h := &held{}
		text, err := os.ReadFile(filepath.Join(d.dir, e.Name()))
		if err == nil {
			err = json.Unmarshal(text, h)
		}
		info, missing := os.Stat(filepath.Join(d.dir, id))
		if err == nil && missing == nil && h.ID == id && info.Mode().IsRegular() && info.Size() == h.Size {
			d.files[id] = h
		}
	}
	for _, e := range all {
		if _, kept := d.files[strings.TrimSuffix(e.Name(), besideEnds)]; !kept {
			if err := os.RemoveAll(filepath.Join(d.dir, e.Name())); err != nil {
				d.opt.Log.Warn("cannot remove what an import left behind: it is tried again at the next start", "err", err)
			}
		}
	}
	return nil
}

// Keep keeps an upload of a size, less than nothing where it is not known. Where there are as many
// as may be, the oldest that nobody reads goes.
func (d *Desk) Keep(name string, size int64, body io.Reader) (_ File, err error) {
	if err := d.ready(); err != nil {
		return File{}, err
	}
	if size > d.opt.Most {
		return File{}, d.tooLarge()
	}
	if err := d.enter(); err != nil {
		return File{}, err
	}
	defer d.leave()
	if err := d.room(size); err != nil {
		return File{}, err
	}
	h := &held{File: File{ID: rand.Text(), Name: shown(name)}}
	whole := filepath.Join(d.dir, h.ID)
	part := whole + partEnds
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // an id of ours
	if err != nil {
		return File{}, err
	}
	defer func() { _ = os.Remove(part) }()
	if err := errors.Join(d.receive(h, size, f, body), f.Close()); err != nil {
		return File{}, err
	}
	h.At = d.opt.Now().UnixMilli()
	text, err := json.Marshal(h)
	if err == nil {
		err = file.WriteAtomic(whole+besideEnds, text, 0o600)
	}
	if err == nil {
		err = os.Rename(part, whole)
	}
	if err != nil {
		return File{}, errors.Join(err, ignoreMissing(os.Remove(whole+besideEnds)))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[h.ID] = h
	return h.File, nil
}

// receive copies a body to a file.
func (d *Desk) receive(h *held, size int64, f *os.File, body io.Reader) error {
	from := &sent{r: body}
	for {
		n, err := io.CopyN(f, from, min(lookAfter, d.opt.Most+1-h.Size))
		h.Size += n
		switch {
		case h.Size > d.opt.Most:
			return d.tooLarge()
		case errors.Is(err, io.EOF):
			if size >= 0 && h.Size != size || h.Size == 0 {
				return notWhole(nil)
			}
			return f.Sync()
		case file.Full(err):
			return d.noRoom()
		case from.err != nil:
			return notWhole(from.err)
		case err != nil:
			return fmt.Errorf("keep the upload for an import: %w", err)
		}
		if err := d.room(0); err != nil {
			return err
		}
	}
}

// sent notes that a sender broke off: a disk that fails is another fault.
type sent struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func notWhole(cause error) error {
	return &Failure{"cut", "The file did not arrive whole: send it again.", "لم يصل الملف كاملًا. أرسله من جديد.", station.ErrInvalid, cause}
}

// enter takes a place for an upload that arrives.
func (d *Desk) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.files)+d.arriving >= mostFiles {
		oldest := ""
		for id, h := range d.files {
			if h.uses == 0 && (oldest == "" || h.At < d.files[oldest].At) {
				oldest = id
			}
		}
		if oldest == "" {
			return &Failure{
				"busy", fmt.Sprintf("%d files for imports are arriving or being read: wait for one of them.", mostFiles),
				fmt.Sprintf("يجري الآن رفع ملفات للاستيراد أو قراءتها، وعددها %d. انتظر حتى ينتهي أحدها.", mostFiles), station.ErrConflict, nil,
			}
		}
		if err := d.drop(oldest); err != nil {
			return err
		}
	}
	d.arriving++
	return nil
}

func (d *Desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.arriving--
}

// room refuses where the disk would have less than its reserve left.
func (d *Desk) room(size int64) error {
	err := (&file.Room{Dir: d.dir, Space: d.opt.Space}).For(max(size, 0))
	if errors.As(err, new(*file.NoRoomError)) {
		return d.noRoom()
	}
	return err
}

func (d *Desk) noRoom() error {
	return &Failure{"no-room", "The station's disk has no room for this file: free some space, or import with athir import on the machine itself.", "لا يتسع قرص المحطة لهذا الملف. أفرِغ بعض المساحة، أو استورده على الجهاز نفسه بالأمر athir import.", station.ErrFull, nil}
}

func (d *Desk) tooLarge() error {
	return &Failure{
		"too-large", fmt.Sprintf("The file is larger than %d MB: import it with athir import on the machine itself, or make a backup without media.", d.opt.Most>>20),
		fmt.Sprintf("حجم الملف أكبر من %d ميغابايت. استورده على الجهاز نفسه بالأمر athir import، أو أنشئ نسخة احتياطية بلا وسائط.", d.opt.Most>>20), station.ErrTooLarge, nil,
	}
}

// Remove removes an upload that nobody reads.
func (d *Desk) Remove(id string) error {
	if err := d.ready(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch h := d.files[id]; {
	case h == nil:
		return fmt.Errorf("there is no such file: %w", station.ErrNotFound)
	case h.uses > 0:
		return &Failure{"busy", "The file is being imported: cancel that first.", "يجري استيراد هذا الملف. ألغِ الاستيراد أولًا.", station.ErrConflict, nil}
	}
	return d.drop(id)
}

// drop removes one; mu is held.
func (d *Desk) drop(id string) error {
	whole := filepath.Join(d.dir, id)
	if err := errors.Join(ignoreMissing(os.Remove(whole)), ignoreMissing(os.Remove(whole+besideEnds))); err != nil {
		return err
	}
	delete(d.files, id)
	return nil
}

// use keeps an upload from being removed until release is called.
func (d *Desk) use(id string) (_ held, release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.files[id]
	if h == nil {
		return held{}, nil, noFile()
	}
	h.uses++
	return *h, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		h.uses--
	}, nil
}

func noFile() error {
	return station.Wrong("file", "is not here any more: upload it again", "الملف غير موجود أو انتهت مدته. ارفعه من جديد")
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// shown is a file's name as it is told: one line, without folders.
func shown(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "�"), `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if r := []rune(name); len(r) > longestName {
		name = string(r[len(r)-longestName:])
	}
	if name == "" || name == "." || name == "/" {
		return "backup"
	}
	return name
}
