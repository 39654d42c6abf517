// Package upload is what the listeners' platform says of its resumable uploads: which
// metadata a sender may give, what a post's receipt is, and why something is refused, in words
// of both languages.
//
// The uploads themselves, and all that survives on bad networks, are kit/resume's. It neither
// judges nor keeps posts.
package upload

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/resume"
)

// Taker makes a post of a finished upload. It is called again with the same ID after a
// crash, and must then answer with the same post; the file at Path may be gone by then. See
// resume.Taker.
type Taker interface {
	Take(ctx context.Context, u Finished) (Receipt, error)
}

// Gate judges an upload before its first byte: metadata, size, who. Its error is the
// sender's answer.
type Gate interface {
	Admit(ctx context.Context, m Meta, from From) error
}

// Finished is an upload that is whole and on disk.
type Finished struct {
	ID   string // of A-Z, a-z and 0-9, and secret: who knows it reads the Receipt
	Path string // to be renamed, linked or copied away at once; what is left of it is removed
	Size int64
	Meta Meta
	From From
}

// From is who sends.
type From struct {
	Address string // as client.Address has it
	Device  string // a plain id; may be empty
}

// Receipt is what the sender needs of the post: the headers X-Post-Id and X-Post-Token.
type Receipt struct {
	Post  int64
	Token string
}

func (r Receipt) headers() resume.Receipt {
	return resume.Receipt{"X-Post-Id": strconv.FormatInt(r.Post, 10), "X-Post-Token": r.Token}
}

// Options are what Open needs; all but Limits, Now and Gate.
type Options struct {
	Dir    string // for nothing else
	Base   string // path where the handler is mounted, with a slash at its end
	Taker  Taker
	Gate   Gate
	Limits resume.Limits
	Log    *slog.Logger

	// Problem answers with an error; nil writes a short problem document.
	Problem func(w http.ResponseWriter, r *http.Request, err error)
	Now     func() time.Time // time.Now
}

// Open reads what an earlier process left in Options.Dir.
func Open(o Options) (*resume.Uploads, error) {
	opts := resume.Options{
		Dir: o.Dir, Base: o.Base, Keys: keys(), Taker: taker{o.Taker}, Limits: o.Limits, Log: o.Log, Problem: o.Problem, Now: o.Now,
		Earlier: earlier, Gate: gate{o.Gate},
		Refusals: resume.Refusals{
			Empty: refusal.New(refusal.Empty), NoRoom: refusal.New(refusal.NoRoom),
			TooMany: refusal.New(refusal.UnfinishedLimit), TooFast: refusal.New(refusal.TooFast), Taken: errTaken,
			TooLarge: func(limit int64) error { return &refusal.Refusal{Code: refusal.TooLarge, Limit: limit} },
		},
	}
	return resume.Open(opts)
}

// errTaken is what the sender hears who deletes an upload that is a post.
var errTaken = errors.New("the upload is whole, and a post by now: withdraw that")

// earlier reads the receipt of a record that was written while a receipt was a post and its
// token.
func earlier(record []byte) resume.Receipt {
	var old struct {
		Post  int64
		Token string
	}
	if err := json.Unmarshal(record, &old); err != nil || old.Post == 0 {
		return nil
	}
	return Receipt(old).headers()
}

// taker and gate are the platform's as resume knows them.
type (
	taker struct{ posts Taker }
	gate  struct{ posts Gate }
)

func (t taker) Take(ctx context.Context, u resume.Finished) (resume.Receipt, error) {
	m, err := metaOf(u.Meta, u.Size)
	if err != nil {
		return nil, err
	}
	r, err := t.posts.Take(ctx, Finished{ID: u.ID, Path: u.Path, Size: u.Size, Meta: m, From: From{u.From.Address, u.From.Device}})
	return r.headers(), err
}

func (g gate) Admit(ctx context.Context, pairs map[string]string, size int64, from resume.From) error {
	m, err := metaOf(pairs, size)
	if err != nil || g.posts == nil {
		return err
	}
	return g.posts.Admit(ctx, m, From{from.Address, from.Device})
}
