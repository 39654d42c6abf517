package content

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

const mostTries = 6 // fetches of one candidate before it is refused

// taken is what became of a candidate.
type taken struct {
	category station.Category
	fetched  bool
	placed   bool
	refusal  *Refusal
	err      error // may pass: the candidate is tried again
}

// take brings one candidate into the library: fetch, validate, master, tag, place.
// After any failure or interruption the candidate is placed, refused with a reason, or
// as it was.
func (r *run) take(ctx context.Context, src source.Source, cand source.Candidate, want station.Category) taken {
	c := r.c
	out := taken{category: cmp.Or(want, cand.Category)}
	dir, err := os.MkdirTemp(c.opt.Work, "take-")
	if err != nil {
		out.err = err
		return out
	}
	defer os.RemoveAll(dir) //nolint:errcheck // Open sweeps the folder
	before, err := c.newest(ctx, cand.Source, cand.ID)
	if err != nil {
		out.err = err
		return out
	}
	it := &item{from: cand, category: out.category, run: r.id}
	if before != nil && before.state == itemFailed {
		it.tries, it.late = before.tries, before.late
	}
	fetched, err := r.fetch(src, cand, dir)
	if err == nil {
		out.fetched = true
		it.from = fetched.Candidate
		it.from.Source, it.from.ID = cand.Source, cand.ID
		err = r.admit(ctx, it, before, fetched.File, dir)
	}
	out.category = it.category
	return r.conclude(ctx, src, it, out, err)
}

// conclude saves a candidate's outcome and reports it to the source.
func (r *run) conclude(ctx context.Context, src source.Source, it *item, out taken, err error) taken {
	c := r.c
	var refusal *Refusal
	switch {
	case err == nil:
		out.placed = it.state == itemPlaced
		if it.state == itemRefused {
			out.refusal = &it.refusal
		}
	case ctx.Err() != nil:
		out.err = context.Cause(ctx)
		return out
	case it.state == itemPlacing, errors.Is(err, errNoSpace), errors.Is(err, syscall.ENOSPC):
		out.err = err // the next recovery says where the file is
		return out
	case errors.As(err, &refusal), source.Lasting(err):
		if refusal == nil {
			refusal = &Refusal{"source", err.Error(), "المصدر لا يقدّم هذا الملف: " + err.Error()}
		}
		out.refusal = refusal
		it.state, it.refusal, it.retry = itemRefused, *refusal, c.now().Add(c.opt.Refused)
	case errors.As(err, new(*ffmpeg.UnfinishedError)): // the machine's fault, however often
		out.err = err
		it.late++
		it.state, it.refusal = itemFailed, Refusal{"failed", err.Error(), ""}
		it.retry = c.now().Add(retry.Doubled(5*time.Minute, 24*time.Hour, it.late))
	default:
		out.err = err
		if !out.fetched { // only failed fetches count against the candidate
			it.tries++
		}
		it.state, it.refusal = itemFailed, Refusal{"failed", err.Error(), ""}
		it.retry = c.now().Add(min(time.Hour<<it.tries, 7*24*time.Hour))
		if it.tries >= mostTries {
			out.refusal, out.err = &Refusal{"source", fmt.Sprintf("%d attempts failed: %v", it.tries, err), "فشلت كل المحاولات"}, nil
			it.state, it.refusal, it.retry = itemRefused, *out.refusal, c.now().Add(c.opt.Refused)
		}
	}
	if it.state != itemPlaced { // a placed item has its row already
		if err := c.save(ctx, it); err != nil {
			out.err = err
			return out
		}
	}
	if it.state == itemFailed {
		return out
	}
	o := source.Outcome{Taken: it.state != itemRefused, WhyArabic: it.refusal.Arabic, WhyEnglish: it.refusal.English}
	if err := src.Settle(context.WithoutCancel(ctx), it.from, o); err != nil {
		out.err = fmt.Errorf("report the outcome to the source: %w", err)
		return out // the source offers it again, and the outcome is reported again
	}
	it.settled = true
	if err := c.save(ctx, it); err != nil {
		out.err = err
	}
	return out
}

func (r *run) fetch(src source.Source, cand source.Candidate, dir string) (source.Fetched, error) {
	if err := r.c.space(); err != nil {
		return source.Fetched{}, err
	}
	if cand.Size > r.c.opt.MaxFile {
		return source.Fetched{}, tooLarge(cand.Size)
	}
	brought := filepath.Join(dir, "in")
	if err := os.Mkdir(brought, 0o700); err != nil {
		return source.Fetched{}, err
	}
	var f source.Fetched
	err := r.ask(src, place(src, cand), r.c.opt.FetchTimeout, func(ctx context.Context) (err error) {
		if src.Name() == source.NameInbox {
			f, err = src.Fetch(ctx, cand, brought, nil)
			return err
		}
		return brisk(ctx, r.c.opt.Stall, r.c.opt.Slowest, func(ctx context.Context, progress func(done, total int64)) (err error) {
			f, err = src.Fetch(ctx, cand, brought, progress)
			return err
		})
	})
	if err != nil {
		return f, err
	}
	info, err := os.Lstat(f.File)
	switch {
	case err != nil:
		return f, fmt.Errorf("the source brought no file: %w", err)
	case !info.Mode().IsRegular() || filepath.Dir(f.File) != brought:
		return f, &Refusal{"unreadable", "the source brought no file", "لا يوجد ملف"}
	case info.Size() > r.c.opt.MaxFile:
		return f, tooLarge(info.Size())
	}
	return f, nil
}

func tooLarge(size int64) *Refusal {
	return &Refusal{"too_large", fmt.Sprintf("its %d MB are above the limit", size>>20), "الملف أكبر من المسموح"}
}

// admit validates, masters and places a fetched file, one at a time, so that the second
// of two copies of one recording finds the first.
func (r *run) admit(ctx context.Context, it, before *item, file, dir string) error {
	c := r.c
	r.desk.Lock()
	defer r.desk.Unlock()
	hold := r.hold()
	err := hold(ctx)
	if err != nil {
		return err
	}
	if it.sha256, err = sum(file); err != nil {
		return err
	}
	if before != nil && !before.settled && before.state != itemFailed && before.sha256 == it.sha256 {
		// A kill came between saving the outcome and reporting it to the source.
		it.id, it.state, it.refusal, it.path = before.id, before.state, before.refusal, before.path
		return nil
	}
	if err := c.validate(ctx, it, file, hold); err != nil {
		return err
	}
	out := filepath.Join(dir, "mastered.mp3")
	if err := c.master(ctx, it, file, out, hold); err != nil {
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return fmt.Errorf("look at the mastered file: %w", err)
	}
	it.size = info.Size()
	return c.place(ctx, it, out)
}

// master writes the file at in, mastered and tagged, to out.
func (c *Content) master(ctx context.Context, it *item, in, out string, hold wait) error {
	profile, err := c.opt.Profiles.For(it.category)
	if err != nil {
		return err
	}
	rec, err := c.opt.Master.Do(ctx, mastering.Job{In: in, Out: out, Profile: profile, Tags: tagsOf(it), Again: true, Trim: true},
		func(float64) { _ = hold(ctx) }) // between two pieces of audio; when ctx ends, so does the work
	var no *mastering.RefusedError
	if errors.As(err, &no) {
		return &Refusal{Code: "mastering", English: no.Text, Arabic: "تعذّر ضبط مستوى الصوت: " + no.Text}
	}
	it.mastered = rec.Outcome
	return err
}

// validate refuses files that do not belong on air, and chooses a category for those
// without one.
func (c *Content) validate(ctx context.Context, it *item, file string, hold wait) error {
	longest := longestMix
	if it.category != "" {
		longest = c.kind(it.category).longest
	}
	h, err := c.hear(ctx, file, longest, hold)
	if err != nil {
		return err
	}
	it.length = h.length
	if it.category == "" {
		it.category = sorted(h.length, it.from.Title, it.from.Artist, it.from.Album, it.from.ID)
	}
	k := c.kind(it.category)
	it.kind = k.name
	if refusal := k.fits(h.length); refusal != nil {
		return refusal
	}
	if h.silent > mostSilence {
		return &Refusal{"silent", fmt.Sprintf("%.0f %% of it is silence", 100*h.silent), fmt.Sprintf("%.0f٪ منه صمت", 100*h.silent)}
	}
	if k.song && h.speech() && c.opt.Speech != SpeechOff {
		if c.opt.Speech == SpeechRefuse && it.from.Source != source.NameInbox {
			return &Refusal{"speech", "it is speech, not music", "الملف كلام وليس موسيقى"}
		}
		c.log.Warn("speech placed in a music deck", "title", it.from.Title, "source", it.from.Source)
	}
	return c.unique(ctx, it, file)
}

// unique refuses a recording that the library has. The same artist and title
// are the same recording only where the length says so too: there are live
// versions.
func (c *Content) unique(ctx context.Context, it *item, file string) error {
	twins, err := c.opt.Prints.Find(ctx, file)
	if err != nil {
		return fmt.Errorf("look for duplicates in the library: %w", err)
	}
	if len(twins) == 0 && it.from.Title != "" && it.from.Artist != "" {
		for _, p := range c.opt.Prints.SameName(it.from.Artist, it.from.Title) {
			if t, ok := c.track(p); ok && (t.Duration-it.length).Abs() < 5*time.Second {
				twins = append(twins, p)
			}
		}
	}
	if len(twins) > 0 {
		return &Refusal{"duplicate", "the library has it already, as " + twins[0], "موجود بالفعل في المكتبة: " + twins[0]}
	}
	return nil
}

func (c *Content) track(p string) (station.Track, bool) {
	for _, t := range c.opt.Registry.Tracks() {
		if t.Path == p {
			return t, true
		}
	}
	return station.Track{}, false
}

// tagsOf are the tags of a placed file: what it is, where it is from and under
// which licence. An empty one leaves what the file itself says.
func tagsOf(it *item) map[string]string {
	f := it.from
	tags := map[string]string{}
	for name, value := range map[string]string{
		"title": f.Title, "artist": f.Artist, "album": f.Album, "genre": f.Genre, "license": f.License,
		"source": strings.TrimSpace(f.Source + " " + cmp.Or(f.Page, f.URL)),
	} {
		if value != "" {
			tags[name] = value
		}
	}
	var said []string
	for _, s := range []string{f.License, f.Licensor, cmp.Or(f.Page, f.URL)} {
		if s != "" {
			said = append(said, s)
		}
	}
	if len(said) > 0 {
		tags["comment"] = strings.Join(said, " — ")
	}
	return tags
}

// place moves a mastered file into the media folder, after saving a row that announces
// it.
func (c *Content) place(ctx context.Context, it *item, file string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fallback := filepath.Base(strings.ReplaceAll(it.from.ID, "\\", "/"))
	name := filename.Of(it.from.Artist, it.from.Title, strings.TrimSuffix(fallback, filepath.Ext(fallback)), ".mp3")
	for {
		rel, err := c.freePath(ctx, it.category, name)
		if err != nil {
			return err
		}
		it.path, it.state = rel, itemPlacing
		if err := c.save(ctx, it); err != nil {
			return err
		}
		full, _ := inside(c.opt.Media, rel)
		err = move(context.WithoutCancel(ctx), c.disk, file, full, -it.id)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody was faster
		}
		if err != nil {
			return errors.Join(fmt.Errorf("place %s: %w", rel, err), c.recoverPlaced(ctx))
		}
		break
	}
	it.state = itemPlaced
	if err := c.save(ctx, it); err != nil {
		it.state = itemPlacing
		return err
	}
	full, _ := inside(c.opt.Media, it.path)
	if err := c.opt.Prints.Add(ctx, it.path, full, it.from.Artist, it.from.Title); err != nil {
		c.log.Warn("recording not fingerprinted: duplicates of it may be taken", "file", it.path, "err", err)
	}
	c.log.Info("file placed", "file", it.path, "source", it.from.Source, "license", it.from.License, "lufs", hundredths(it.mastered.Integrated), "dbtp", hundredths(it.mastered.TruePeak), "method", it.mastered.Method)
	return nil
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

func sum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
