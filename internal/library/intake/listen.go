package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// longestHold is how long one file is held up while the machine is short. A person waits, and
// often so in a station's first minutes, when it is busy with itself: one song, listened to at
// low priority, takes little from what is on the air.
const longestHold = 3 * time.Second

// lookPause is the time until a file that could not be read is tried again.
func lookPause(tries int) time.Duration { return retry.Doubled(30*time.Second, time.Hour, tries) }

// lookNext listens to the next arrival; false: there is none.
func (in *Intake) lookNext(ctx context.Context) bool {
	id, ok := in.claim((*entry).toLook, in.looks)
	if !ok {
		return false
	}
	pause := lookPause
	defer func() { in.release(id, pause) }()
	k, ok := in.get(id)
	if !ok {
		return true // dropped this moment
	}
	if err := in.look(ctx, k); err == nil || errors.Is(err, station.ErrNotFound) {
		pause = nil
	} else if ctx.Err() == nil {
		in.log.Warn("an upload could not be looked at: it is tried again", "arrival", id, "name", k.Name, "err", err)
	}
	return true
}

// look finds out what an arrival is, and says what becomes of it. An error leaves it waiting.
func (in *Intake) look(ctx context.Context, k kept) error {
	if err := shed.AtMost(in.opt.Hold, longestHold)(ctx); err != nil {
		return err
	}
	abs := in.file(&k)
	if here, err := there(in.disk, abs); err != nil {
		return err
	} else if !here {
		return in.reject(ctx, k.ID, refuse(Gone))
	}
	info, err := in.examine(ctx, abs)
	if r := refusalOf(err, k.Category, info.Duration); r != nil {
		return in.reject(ctx, k.ID, r)
	} else if err != nil {
		return err
	}
	print, err := in.fingerprint(ctx, abs)
	if err != nil {
		return err
	}
	k.describe(info)
	seen := in.countPlaced()
	alike, err := in.alike(ctx, print, k.Artist, k.Title)
	if err != nil {
		return err
	}
	done, err := in.changeOne(ctx, k.ID, func(now *kept) error {
		now.describe(info)
		now.Alike = alike
		if now.Category == "" || now.Guessed {
			t := station.Track{Path: now.Name, Title: now.Title, Artist: now.Artist, Album: now.Album, Duration: now.Duration}
			now.Category, now.Why = guess(now.Folder, &t, &info)
			now.Guessed = true
		}
		now.settle()
		return nil
	})
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if e := in.entries[k.ID]; e != nil {
		e.print, e.seen, e.stale = print, seen, false
	}
	in.log.Debug("upload looked at", "arrival", k.ID, "name", k.Name, "state", done.State, "category", done.Category, "alike", len(done.Alike))
	return nil
}

// fingerprint is that of a file; nil where it has none worth comparing.
func (in *Intake) fingerprint(ctx context.Context, abs string) (fingerprint.Print, error) {
	print, err := in.listen(ctx, abs)
	var mute *ffmpeg.RefusedError
	if err != nil && !errors.Is(err, fingerprint.ErrPlain) && !errors.As(err, &mute) {
		return nil, fmt.Errorf("take the fingerprint of an upload: %w", err)
	}
	return print, nil
}

func (in *Intake) reject(ctx context.Context, id string, r *Refusal) error {
	_, err := in.changeOne(ctx, id, func(k *kept) error {
		k.State, k.Reason, k.Asks, k.Auto, k.Asked, k.Path = Refused, r, nil, false, false, ""
		return nil
	})
	if err == nil {
		in.log.Info("upload refused", "arrival", id, "code", r.Code, "reason", r.Error())
	}
	return err
}

// describe takes over what a file says, beneath what a person said.
func (k *kept) describe(info audiofile.Info) {
	k.Duration, k.Rate, k.Album = info.Duration, info.SampleRate, clip(info.Album, mostText)
	artist, title := media.NameParts(k.Name)
	if info.Title != "" {
		artist = info.Artist
	}
	if !k.TitleSaid {
		k.Title = clip(cmp.Or(info.Title, title), mostText)
	}
	if !k.ArtistSaid {
		k.Artist = clip(cmp.Or(info.Artist, artist), mostText)
	}
}

// refusalOf is what people are told of an *media.Unfit; nil for every other error.
func refusalOf(err error, category station.Category, length time.Duration) *Refusal {
	var unfit *media.Unfit
	if !errors.As(err, &unfit) {
		return nil
	}
	code, known := map[media.Unfitness]Code{
		media.NotAudio: NotAudio, media.Damaged: Damaged, media.Oversize: TooLarge, media.OddRate: OddRate,
		media.TooShort: TooShort, media.TooLong: TooLong,
	}[unfit.Kind]
	if !known {
		code = Unreadable
	}
	r := &Refusal{Code: code, Note: clip(unfit.Reason, mostText)}
	switch code {
	case TooLong:
		r.Found, r.Category, r.Note = length, category, ""
	case TooLarge:
		r.Limit = 8 << 30
	}
	return r
}

// mostAlike bounds the tracks that a person is shown.
const mostAlike = 10

// alike finds the tracks that an arrival looks like.
func (in *Intake) alike(ctx context.Context, print fingerprint.Print, artist, title string) ([]Likeness, error) {
	var versions []fingerprint.Print
	if print != nil {
		versions = append(versions, print)
	}
	found, err := in.opt.Prints.Alike(ctx, versions, artist, title)
	if err != nil {
		return nil, fmt.Errorf("look for duplicates: %w", err)
	}
	var out []Likeness
	for _, m := range found {
		t, ok := in.opt.Library.Find(m.Path)
		if !ok {
			continue // it has left the library
		}
		out = append(out, Likeness{
			Path: m.Path, Title: t.Title, Artist: t.Artist, Category: t.Category, Duration: t.Duration, Size: t.Size,
			Recording: m.Difference < 1, Difference: m.Difference,
		})
		if len(out) == mostAlike {
			break
		}
	}
	return out, nil
}

func (in *Intake) countPlaced() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.placed)
}

// target is where in the media folder an arrival goes, if nothing is there.
func (k *kept) target() string {
	if k.Replace != "" {
		return k.Replace[:len(k.Replace)-len(path.Ext(k.Replace))] + k.Ext
	}
	return path.Join(string(k.Category), filename.Of(k.Artist, k.Title, "", k.Ext))
}
