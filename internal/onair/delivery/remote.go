package delivery

import (
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
	ID   string `json:"id,omitempty"` // of a put: the same again is the same put
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
	First int     `json:"first,omitempty"` // so many from the first are in place
}

const (
	// orderWait bounds one order and its answer.
	orderWait = 5 * time.Second
	// beside is how long an order that is safe to repeat is repeated while nobody
	// answers: a bus that is restarted is back by then.
	beside = 8 * time.Second
	again  = 200 * time.Millisecond
)

// Remote is a node on another machine, which serves Orders. It holds nothing:
// whatever it is asked, the node says.
type Remote struct{ bus *bus.Bus }

// NewRemote returns the node at the other end of the bus.
func NewRemote(b *bus.Bus) *Remote { return &Remote{b} }

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

// Write implements Node. An answer that is lost does no harm: the same put is
// asked for again, and carried out once.
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

// FetchFirst is Fetch, but may return earlier: after patience, once as many as
// least are in place. It returns how many are settled, from the first; the
// others are still being pulled.
func (r *Remote) FetchFirst(ctx context.Context, paths []string, expect []int64, least int, patience time.Duration) (int, error) {
	ask := mediaAsk{Do: doFetch, Paths: asBytes(paths), Expect: expect}
	for begun := time.Now(); ; {
		var got mediaAnswer
		err := persist(ctx, func() (err error) {
			got, err = bus.Call[mediaAnswer](ctx, r.bus, SubjectMedia, fetchWait+orderWait, ask)
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
	got, err := bus.Call[mediaAnswer](ctx, r.bus, SubjectMedia, orderWait, mediaAsk{Do: doSizes, Paths: asBytes(paths)})
	return got.Sizes, nodeError("check media", err)
}

func (r *Remote) playlist(ctx context.Context, attempt string, ask playlistAsk) (playlistAnswer, error) {
	got, err := bus.Call[playlistAnswer](ctx, r.bus, SubjectPlaylist, orderWait, ask)
	return got, nodeError(attempt, err)
}

// persist repeats an order that nobody has answered.
func persist(ctx context.Context, order func() error) error {
	for begun := time.Now(); ; {
		err := order()
		var refused *bus.Refusal
		if err == nil || errors.As(err, &refused) || !errors.Is(err, station.ErrUnavailable) || time.Since(begun) > beside {
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
