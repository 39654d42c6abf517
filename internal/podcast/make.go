package podcast

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/station"
)

const (
	workDir = ".making" // within Dir, so that a file is renamed to its place

	offersWithin    = time.Minute
	findWithin      = 30 * time.Second
	withdrawnWithin = 10 * time.Second
	// stalledAfter is how long a file that is fetched may stay as it is.
	stalledAfter = 2 * time.Minute
	// finishAtLeast is how long the making of a sound may take, beside thrice its own length.
	finishAtLeast = 30 * time.Minute

	// A reason that may pass is waited for, ever longer, so often.
	firstAgain, mostAgain, mostTries = time.Minute, 6 * time.Hour, 12

	// What a millisecond of an episode takes, as far as can be said before, and at least.
	bytesAMilli, leastAMilli = 24, 4
)

var (
	errStopped = errors.New("the episode was removed or withdrawn")
	errStalled = errors.New("nothing has come for too long, where it is made of: look whether the part of the station that has it answers")
	errSlow    = errors.New("its making takes too long: the machine is too busy, or the sound is damaged")
)

// work is the episode that is being made.
type work struct {
	mu       sync.Mutex
	slug, id string
	cancel   context.CancelCauseFunc
}

func (w *work) begin(ctx context.Context, slug, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slug, w.id, w.cancel = slug, id, cancel
	return ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancel = nil
		cancel(nil)
	}
}

// stop ends the making of an episode, or of any of a show where id is empty.
func (w *work) stop(slug, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil && w.slug == slug && (id == "" || w.id == id) {
		w.cancel(errStopped)
	}
}

// waiting is the episode whose turn it is; nil where none waits. soon is when the next may.
func (b *book) waiting(now int64) (r *record, soon int64) {
	soon = never
	order := func(r *record) int { // what is soon made, and soon old, first
		if r.Source.Kind == Bulletins || r.Source.Kind == Posts {
			return 0
		}
		return 1
	}
	for _, s := range b.shelves {
		if s.Removed != 0 {
			continue
		}
		for _, c := range s.records {
			if c.Withheld {
				continue
			}
			// One that waits for longer than any does was noted before the clock was set back.
			due := c.State == Making || c.State == Failed && c.again != 0 && (c.again <= now || c.again-now > 2*mostAgain.Milliseconds())
			if c.State == Failed && c.again > now {
				soon = min(soon, c.again)
			}
			if due && (r == nil || cmp.Or(cmp.Compare(c.tries, r.tries), cmp.Compare(order(c), order(r)), cmp.Compare(c.born, r.born), cmp.Compare(c.Number, r.Number), cmp.Compare(c.ID, r.ID)) < 0) {
				r = c
			}
		}
	}
	return r, soon
}

// makeNext makes the episode whose turn it is and reports whether there was one.
func (p *Podcasts) makeNext(ctx context.Context) bool {
	r, _ := p.book.Load().waiting(p.opt.Now().UnixMilli())
	if r == nil || ctx.Err() != nil {
		return false
	}
	slug, id := r.Show, r.ID
	own, end := p.work.begin(ctx, slug, id)
	defer end()
	if r.State == Failed {
		if _, err := p.episode(own, slug, id, func(s *shelf, r *record) error { return s.move(r, again, p.opt.Now()) }); err != nil {
			if !errors.Is(err, station.ErrConflict) && !errors.Is(err, station.ErrNotFound) {
				p.fail(ctx, slug, id, err)
				return false
			}
			return true // somebody was quicker
		}
	}
	err := p.opt.Hold(own)
	if err == nil {
		err = p.produce(own, slug, id)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil: // the next start goes on
	case errors.Is(context.Cause(own), errStopped) || errors.Is(err, errStopped):
		p.opt.Log.Info("an episode is not made: it was removed or withdrawn", "show", slug, "episode", id)
	default:
		return p.fail(ctx, slug, id, err)
	}
	return ctx.Err() == nil
}

// fail notes why an episode could not be made, and when it is tried again. It reports whether that
// is on the disk: else it is tried again after a while, not at once.
func (p *Podcasts) fail(ctx context.Context, slug, id string, why error) bool {
	now := p.opt.Now()
	lasting := errors.Is(why, station.ErrInvalid) || errors.Is(why, station.ErrNotFound) || errors.Is(why, station.ErrConflict)
	_, err := p.episode(ctx, slug, id, func(s *shelf, r *record) error {
		if r.State == Making {
			if err := s.move(r, failed, now); err != nil {
				return err
			}
		} else if r.State != Failed {
			return errStopped
		}
		r.Problem, r.ProblemAR = problem(why)
		r.again = 0
		if r.tries++; !lasting && r.tries < mostTries {
			r.again = now.Add(retry.Doubled(firstAgain, mostAgain, r.tries)).UnixMilli()
		}
		return nil
	})
	switch {
	case errors.Is(err, errStopped), errors.Is(err, station.ErrNotFound):
		return true
	case err != nil:
		p.opt.Log.Warn("cannot note why an episode is not made", "show", slug, "episode", id, "why", why, "err", err)
		return false
	}
	p.opt.Log.Warn("an episode cannot be made", "show", slug, "episode", id, "err", why, "again", !lasting)
	return true
}

// problem says why an episode cannot be made, in English and, where there is a sentence for it, in
// Arabic.
func problem(why error) (english, arabic string) {
	english = clip(oneLine(station.Reason(why)), 500)
	var field *station.FieldError
	var room *file.NoRoomError
	switch {
	case errors.As(why, &field):
		arabic = field.Arabic
	case errors.As(why, &room), file.Full(why):
		if room == nil {
			english = "the disk of the podcasts is full: free some space (" + english + ")"
		}
		arabic = "لا مكان على القرص: أفرغ بعضه، ثم تُصنع الحلقة وحدها"
	case errors.Is(why, station.ErrFull):
		arabic = "بلغت ملفات البودكاست حدها (podcasts.gigabytes) وما بقي منها مثبّت: ألغِ تثبيت بعضها أو احذفه، أو ارفع الحد"
	case errors.Is(why, errStalled):
		arabic = "توقف جلب الصوت: تأكد من أن الجزء الذي يحفظه يعمل"
	case errors.Is(why, errSlow):
		arabic = "طال صنع الحلقة أكثر مما ينبغي: الجهاز مشغول جدًا، أو الصوت تالف"
	case errors.Is(why, station.ErrNotFound):
		arabic = "لم يعد مصدر الحلقة موجودًا"
	case errors.Is(why, station.ErrUnavailable):
		arabic = "مصدر الحلقة لا يجيب الآن: تُعاد المحاولة تلقائيًا"
	}
	return english, arabic
}

// produce makes the file of an episode and gives it its state.
func (p *Podcasts) produce(ctx context.Context, slug, id string) error {
	b := p.book.Load()
	r, err := b.record(slug, id)
	if err != nil || r.State != Making || b.shelves[slug].Removed != 0 {
		return errors.Join(errStopped, err)
	}
	origin, err := p.origin(r.Source.Kind)
	if err != nil {
		return err
	}
	if err := p.withdrawn(ctx, origin, r); err != nil {
		return err
	}
	if err := p.room(r.DurationMS * bytesAMilli); err != nil {
		return err
	}
	if err := p.couldFit(b, r, r.DurationMS*leastAMilli); err != nil {
		return err // before hours are spent on it
	}
	temp := filepath.Join(p.opt.Dir, workDir)
	if err := errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700)); err != nil {
		return fmt.Errorf("make the folder for episodes in the making: %w", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // the next one, or the next start, sweeps it
	raw, done, cover := filepath.Join(temp, id+".raw"), filepath.Join(temp, id+".mp3"), filepath.Join(temp, id+".jpg")
	if err := p.watched(ctx, temp, stalledAfter, 0, func(ctx context.Context) error { return origin.Fetch(ctx, r.Source.Key, raw) }); err != nil {
		return fmt.Errorf("fetch what it is made of: %w", err)
	}
	p.step("fetched")
	if picture, _, err := p.Cover(ctx, slug); err != nil || os.WriteFile(cover, picture, 0o600) != nil {
		cover = "" // a sound without a picture is better than none
	}
	show := b.shelves[slug]
	tags := Tags{
		Title: r.Title, Show: show.Title, Artist: cmp.Or(r.Artist, r.Creator, show.Author, p.opt.Station()), Language: show.Language,
		Number: r.Number, Date: time.UnixMilli(cmp.Or(r.Began, r.born)), Cover: cover, Chapters: r.Chapters, Duration: time.Duration(r.DurationMS) * time.Millisecond,
	}
	var is Finished
	err = p.watched(ctx, temp, 0, finishAtLeast+3*tags.Duration, func(ctx context.Context) (err error) {
		is, err = p.opt.Finish.Finish(ctx, raw, done, tags)
		return err
	})
	if err != nil {
		return fmt.Errorf("make the sound: %w", err)
	}
	p.step("finished")
	_ = os.Remove(raw)
	info, err := os.Stat(done)
	switch {
	case err != nil:
		return fmt.Errorf("make the sound: %w", err)
	case info.Size() == 0 || is.Duration <= 0:
		return station.Wrong("sound", "is empty", "الصوت فارغ")
	}
	is.Bytes = info.Size() // listeners are told how many come
	if most := int64(show.Keep.Megabytes) * 1_000_000; most > 0 && is.Bytes > most {
		return station.Wrong("keep.megabytes", fmt.Sprintf("are %d for the whole show, and this episode alone has %d: let it keep more", show.Keep.Megabytes, (is.Bytes+999_999)/1_000_000), "الحلقة وحدها أكبر من حجم البرنامج المسموح: ارفع الحد")
	}
	if err := p.makeRoom(ctx, slug, id, is.Bytes); err != nil {
		return err
	}
	if err := p.withdrawn(ctx, origin, r); err != nil {
		return err
	}
	return p.place(ctx, r, done, is)
}

// withdrawn is an error where what an episode is made of may not be heard any more.
func (p *Podcasts) withdrawn(ctx context.Context, origin Origin, r *record) error {
	if r.Source.Kind != Posts {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, withdrawnWithin)
	defer cancel()
	is, err := origin.Standing(ctx, r.Source.Key)
	if err != nil {
		return fmt.Errorf("ask whether the post may still be heard: %w", err)
	}
	switch is {
	case Free:
		return nil
	case Withheld:
		err = station.ErrUnavailable
	case Withdrawn:
		err = station.ErrNotFound
	}
	p.Wake() // it waits, or is taken away
	return fmt.Errorf("the post may not be heard now: it is %s: %w", is, err)
}

// place puts a finished sound to its place, then the episode into its state. A kill in between
// leaves a file that nothing names, and the episode is made again.
func (p *Podcasts) place(ctx context.Context, r *record, from string, is Finished) (err error) {
	if err := file.Settle(from, 0o600); err != nil {
		return fmt.Errorf("put the sound to its place: %w", err)
	}
	var mark [4]byte
	_, _ = rand.Read(mark[:]) // never fails
	name := r.ID + "-" + hex.EncodeToString(mark[:]) + ".mp3"
	dir := filepath.Join(p.opt.Dir, r.Show)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder of a show: %w", err)
	}
	to := filepath.Join(dir, name)
	if err := file.RenameNew(from, to); err != nil {
		return fmt.Errorf("put the sound to its place: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to)
		}
	}()
	p.step("placed")
	if err := errors.Join(file.SyncDir(dir), file.SyncDir(p.opt.Dir)); err != nil {
		return fmt.Errorf("put the sound to its place: %w", err)
	}
	// The end of the program, too, finds it done: its making may have taken an hour.
	_, err = p.episode(context.WithoutCancel(ctx), r.Show, r.ID, func(s *shelf, r *record) error {
		if r.State != Making || s.Removed != 0 {
			return errStopped
		}
		e := made
		if s.Held {
			e = madeHeld
		}
		r.File, r.Bytes, r.DurationMS, r.tries = name, is.Bytes, is.Duration.Milliseconds(), 0
		r.Chapters = tidied(r.Chapters, r.DurationMS)
		return s.move(r, e, p.opt.Now())
	})
	if errors.Is(err, station.ErrNotFound) {
		return errStopped
	}
	if err == nil {
		p.opt.Log.Info("an episode is made", "show", r.Show, "episode", r.ID, "title", r.Title, "bytes", is.Bytes)
	}
	return err
}

// watched runs what fills a folder, and ends it where nothing comes for too long, where it takes
// longer than most, or where the disk has no room; 0 is no bound.
func (p *Podcasts) watched(ctx context.Context, dir string, stalled, most time.Duration, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		size, still := int64(-1), time.Duration(0)
		for took := time.Duration(0); ; took += time.Second {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			if now := sizeOf(dir); now != size {
				size, still = now, 0
			} else if still += time.Second; stalled > 0 && still >= stalled {
				cancel(errStalled)
			}
			if most > 0 && took >= most {
				cancel(errSlow)
			}
			if err := p.room(0); err != nil {
				cancel(err)
			}
		}
	})
	err := fn(ctx)
	close(ended)
	beside.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// sizeOf is how much the files of a folder have.
func sizeOf(dir string) (n int64) {
	all, _ := os.ReadDir(dir)
	for _, f := range all {
		if info, err := f.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// room refuses what the disk has no room for.
func (p *Podcasts) room(need int64) error {
	r := file.Room{Dir: p.opt.Dir, Space: p.space}
	return r.For(need + p.opt.ReserveBytes)
}

// makeRoom makes room for an episode of so many bytes: of the disk there must be some, and of the
// bound of all files the oldest episodes make some.
func (p *Podcasts) makeRoom(ctx context.Context, slug, id string, need int64) error {
	b := p.book.Load()
	r, err := b.record(slug, id)
	if err != nil {
		return errors.Join(errStopped, err)
	}
	if err := errors.Join(p.room(0), p.couldFit(b, r, need)); err != nil {
		return err
	}
	return p.evict(ctx, b, b.bytes-r.Bytes+need-p.opt.MostBytes, r)
}

// couldFit refuses an episode that has no place beside those that stay whatever comes.
func (p *Podcasts) couldFit(b *book, r *record, need int64) error {
	stays := b.bytes - r.Bytes // which go as the new ones come
	for _, s := range b.shelves {
		for _, o := range spares(s) {
			if o.ID != r.ID || o.Show != r.Show {
				stays -= o.Bytes
			}
		}
	}
	if p.opt.MostBytes > 0 && stays+need > p.opt.MostBytes {
		return fmt.Errorf("all podcasts may have %d MB (podcasts.gigabytes), and those that are pinned leave no room for this one: unpin or remove some, or allow more: %w", p.opt.MostBytes/1_000_000, station.ErrFull)
	}
	return nil
}

// evict removes the oldest episodes of all shows, but for one, until so many bytes are free. Those
// that were removed by hand go first.
func (p *Podcasts) evict(ctx context.Context, b *book, over int64, but *record) error {
	if p.opt.MostBytes <= 0 || over <= 0 {
		return nil
	}
	var all []*record
	for _, s := range b.shelves {
		all = append(all, spares(s)...)
	}
	slices.SortFunc(all, inOrderOfGoing)
	for _, r := range all {
		if r.Bytes == 0 || but != nil && r.ID == but.ID && r.Show == but.Show {
			continue
		}
		if over <= 0 {
			break
		}
		if err := p.drop(ctx, r.Show, "all podcasts have as many bytes as podcasts.gigabytes allows", nil, r.ID); err != nil {
			return fmt.Errorf("make room by removing an old episode: %w", err)
		}
		over -= r.Bytes
	}
	return nil
}
