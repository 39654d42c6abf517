package resume

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// Refusals are an owner's words for what people can do something about. Each is found by
// errors.As in the error of the kind that goes with it; one that is nil is said in plain
// English.
type Refusals struct {
	Empty    error                   // nothing is to be sent: station.ErrInvalid
	TooLarge func(limit int64) error // one upload, in bytes: station.ErrTooLarge
	NoRoom   error                   // on the disk, or among all uploads: station.ErrFull
	TooMany  error                   // unfinished ones of a network: client.LimitError, or station.ErrFull where one gave its place up
	TooFast  error                   // creations of an address: client.LimitError
	Taken    error                   // one that is handed on cannot be deleted: station.ErrForbidden
}

func (r Refusals) defaults() Refusals {
	plain := func(err *error, text string) {
		if *err == nil {
			*err = words(text)
		}
	}
	plain(&r.Empty, "There is nothing in this file.")
	plain(&r.NoRoom, "There is no room for more uploads right now. Please try again later.")
	plain(&r.TooMany, "Too many unfinished uploads come from this network. Finish or remove some first.")
	plain(&r.TooFast, "Too many uploads were begun in a short time. Please wait a little.")
	plain(&r.Taken, "the upload is whole and was taken: it cannot be withdrawn here")
	if r.TooLarge == nil {
		r.TooLarge = func(limit int64) error {
			return words(fmt.Sprintf("This file is too large: at most %d MB are allowed.", (limit+1<<20-1)>>20))
		}
	}
	return r
}

// words are an error for people.
type words string

func (w words) Error() string { return string(w) }

// kinded is an owner's words with the kind by which a status is chosen. The kind's text adds
// nothing to them.
type kinded struct{ words, kind error }

func (k *kinded) Error() string { return k.words.Error() }

// Unwrap leads to both.
func (k *kinded) Unwrap() []error { return []error{k.words, k.kind} }

func (u *Uploads) errEmpty() error { return &kinded{u.opts.Refusals.Empty, station.ErrInvalid} }

func (u *Uploads) errTooLarge() error {
	return &kinded{u.opts.Refusals.TooLarge(u.limits.Size), station.ErrTooLarge}
}

func (u *Uploads) errNoRoom() error { return &kinded{u.opts.Refusals.NoRoom, station.ErrFull} }

func (u *Uploads) errTooMany() error {
	return &kinded{u.opts.Refusals.TooMany, &client.LimitError{RetryAfter: time.Minute}}
}

// errYielded is what a request hears whose upload gave its place up.
func (u *Uploads) errYielded() error { return &kinded{u.opts.Refusals.TooMany, station.ErrFull} }

func (u *Uploads) errTooFast(limit error) error { return &kinded{u.opts.Refusals.TooFast, limit} }

func (u *Uploads) errTaken() error { return &kinded{u.opts.Refusals.Taken, station.ErrForbidden} }
