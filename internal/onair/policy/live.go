package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// Live returns the member live of the document in force; nil when there is none.
func (o *Owner) Live() json.RawMessage { return slices.Clone(o.now.Load().Live) }

// KeepLive puts the member live in force and writes it to the file at once. The rest of
// the file stays as it is there: settings that are in force and not saved are not saved
// by this. It is in force only when it is on disk.
//
// Errors: *InvalidError where raw is no JSON object or the file would be larger than
// can be read again; station.ErrUnavailable where the file cannot be read or written.
func (o *Owner) KeepLive(ctx context.Context, raw json.RawMessage) error {
	return o.inTurn(ctx, func() error {
		value, err := parse(raw)
		if err != nil {
			return under("live", err)
		}
		live, err := json.Marshal(value) // the form in which it would be read again
		if err != nil {
			return err
		}
		now := o.now.Load()
		next, err := now.withLive(live)
		if err != nil {
			return err
		}
		return o.disk.Alone(func() error { return o.putLive(now, next) })
	})
}

// putLive writes the member live of next, and then has it in force.
func (o *Owner) putLive(now *inForce, next settings) error {
	kept := o.kept.Load().clone()
	kept.Live = next.Live
	if bytes.Equal(next.Live, now.Live) && bytes.Equal(kept.Live, o.kept.Load().Live) {
		return nil
	}
	if err := o.writeLive(kept.Live); err != nil {
		return fmt.Errorf("keep live streams in the station configuration: %w", err)
	}
	is := &inForce{next, now.past}
	if o.books.whole == now {
		o.books.whole = is
	}
	o.now.Store(is)
	o.kept.Store(&kept)
	return nil
}

// withLive is s with another member live, or refused where a later Save could not be read
// again. What is written now is looked at as a whole in any case.
func (s settings) withLive(live json.RawMessage) (settings, error) {
	next := s.clone()
	next.Live = live
	text, err := json.Marshal(next)
	if err == nil && len(text) > mostBytes {
		var bad wrong
		bad.add("live", "must be smaller: the configuration would have more than %d MiB with it", mostBytes>>20)
		err = bad.err()
	}
	return next, err
}

// writeLive replaces one member of the file. It reads the file itself, as somebody may
// have edited it since the start: only what is kept here is ours to change.
func (o *Owner) writeLive(live json.RawMessage) error {
	text, err := read(o.path, mostBytes)
	ours := sha256.Sum256(text) == o.books.text
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("{}"), nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", station.ErrUnavailable, err)
	}
	document, err := parse(text)
	if err != nil {
		return fmt.Errorf("%s is not as it should be, mend it or save the configuration: %w: %s", o.path, station.ErrUnavailable, err.Error())
	}
	document["live"] = live
	if text, err = render(document); err != nil {
		return err
	}
	if _, err := parse(text); err != nil { // too large
		return under("live", err)
	}
	if err := file.WriteAtomic(o.path, text, 0o600); err != nil {
		return fmt.Errorf("%w: %w", station.ErrUnavailable, err)
	}
	if ours {
		o.books.text = sha256.Sum256(text)
	}
	return nil
}

// removeButLive deletes the file, or leaves only the member live in it: a restart must
// find the streams again.
func (o *Owner) removeButLive(live json.RawMessage) error {
	if live == nil {
		err := remove(o.path)
		if err == nil {
			o.books.text = sha256.Sum256(nil)
		}
		return err
	}
	text, err := render(object{"live": live})
	if err != nil {
		return err
	}
	return o.replace(text)
}
