package delivery

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/station"
)

// The orders of a node's playlist and media, as Orders serves them.
const (
	SubjectPlaylist = "athir.node.playlist"
	SubjectMedia    = "athir.node.media"
)

const (
	doGet    = "get"
	doPut    = "put"
	doIntact = "intact"
	doFetch  = "fetch"
	doSizes  = "sizes"
)

type playlistAsk struct {
	Do   string `json:"do"`
	ID   string `json:"id,omitempty"` // of a put: a repeated id is carried out once
	Data []byte `json:"data,omitempty"`
}

type playlistAnswer struct {
	Data     []byte `json:"data,omitempty"`
	None     bool   `json:"none,omitempty"` // there is no file
	Intact   bool   `json:"intact,omitempty"`
	Replaced bool   `json:"replaced,omitempty"`
}

// mediaAsk names files by their bytes, which need not be text.
type mediaAsk struct {
	Do     string   `json:"do"`
	Paths  [][]byte `json:"paths"`
	Expect []int64  `json:"expect,omitempty"`
}

type mediaAnswer struct {
	Sizes []int64 `json:"sizes,omitempty"`
	Done  bool    `json:"done,omitempty"`
	First int     `json:"first,omitempty"` // how many leading files are in place
}

const (
	// orderWait bounds one order and its answer.
	orderWait = 5 * time.Second
	// repeatFor is how long an unanswered order that is safe to repeat is repeated
	// after its first attempt: a restarted bus is back by then.
	repeatFor = 8 * time.Second
	again     = 200 * time.Millisecond
)

// Remote is a node on another machine, which serves Orders. It caches nothing:
// each method asks the node.
type Remote struct {
	// Timeout of one order and its answer; 0 is orderWait.
	Timeout time.Duration

	bus *bus.Bus
	to  func(subject string) string
}

// NewRemote returns the node at the other end of the bus. to is where it takes the orders
// of a subject.
func NewRemote(b *bus.Bus, to func(subject string) string) *Remote { return &Remote{bus: b, to: to} }

func (r *Remote) wait() time.Duration { return cmp.Or(r.Timeout, orderWait) }

// Plainly is where a node takes orders that are the only one.
func Plainly(subject string) string { return subject }

// ReadBack implements Node.
func (r *Remote) ReadBack(ctx context.Context) ([]byte, error) {
	got, err := r.playlist(ctx, "read playlist", playlistAsk{Do: doGet})
	if err != nil || got.None {
		return nil, err
	}
	return got.Data, nil
}

// Intact is Local.Intact of the node.
func (r *Remote) Intact(ctx context.Context) (bool, error) {
	got, err := r.playlist(ctx, "check playlist", playlistAsk{Do: doIntact})
	return got.Intact, err
}

// Write implements Node. A lost answer does no harm: the order is repeated under
// the same id, and carried out once.
func (r *Remote) Write(ctx context.Context, data []byte) error {
	ask := playlistAsk{Do: doPut, ID: rand.Text(), Data: data}
	var got playlistAnswer
	err := persist(ctx, func() (err error) {
		got, err = r.playlist(ctx, "write playlist", ask)
		return err
	})
	if err == nil && got.Replaced {
		return fmt.Errorf("write playlist on the node: %w", ErrReplaced)
	}
	return err
}

// Fetch implements Node.
func (r *Remote) Fetch(ctx context.Context, paths []string, expect []int64) error {
	_, err := r.FetchFirst(ctx, paths, expect, len(paths), 0)
	return err
}

// FetchFirst is Fetch, but returns after patience once the first least files are
// in place. It returns how many leading files are settled; the node goes on
// pulling the others.
func (r *Remote) FetchFirst(ctx context.Context, paths []string, expect []int64, least int, patience time.Duration) (int, error) {
	ask := mediaAsk{Do: doFetch, Paths: asBytes(paths), Expect: expect}
	for begun := time.Now(); ; {
		var got mediaAnswer
		err := persist(ctx, func() (err error) {
			got, err = bus.Call[mediaAnswer](ctx, r.bus, r.to(SubjectMedia), fetchWait+r.wait(), ask)
			return err
		})
		switch {
		case err != nil:
			return 0, nodeError("pull media", err)
		case got.Done:
			return len(paths), nil
		case got.First >= least && time.Since(begun) > patience:
			return got.First, nil
		}
	}
}

// Sizes implements Node.
func (r *Remote) Sizes(ctx context.Context, paths []string) ([]int64, error) {
	got, err := bus.Call[mediaAnswer](ctx, r.bus, r.to(SubjectMedia), r.wait(), mediaAsk{Do: doSizes, Paths: asBytes(paths)})
	return got.Sizes, nodeError("check media", err)
}

func (r *Remote) playlist(ctx context.Context, attempt string, ask playlistAsk) (playlistAnswer, error) {
	got, err := bus.Call[playlistAnswer](ctx, r.bus, r.to(SubjectPlaylist), r.wait(), ask)
	return got, nodeError(attempt, err)
}

// persist repeats an order while the node does not answer: at least once, as the
// first attempt may take longer than repeatFor by itself where its answer was lost.
func persist(ctx context.Context, order func() error) error {
	var until time.Time // zero during the first attempt
	for {
		err := order()
		var refused *bus.Refusal
		switch {
		case err == nil || errors.As(err, &refused) || !errors.Is(err, station.ErrUnavailable):
			return err
		case until.IsZero():
			until = time.Now().Add(repeatFor)
		case time.Now().After(until):
			return err
		}
		timer := time.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func nodeError(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("broadcast node: %s: %w", what, err)
}

func asBytes(paths []string) [][]byte {
	out := make([][]byte, len(paths))
	for i, p := range paths {
		out[i] = []byte(p)
	}
	return out
}

func asPaths(raw [][]byte) []string {
	out := make([]string, len(raw))
	for i, p := range raw {
		out[i] = string(p)
	}
	return out
}
