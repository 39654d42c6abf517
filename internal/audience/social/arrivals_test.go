package social_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// A body whose length nobody knows is not let onto a disk that has filled up meanwhile.
func TestABodyThatComesStopsBeforeTheDiskIsFull(t *testing.T) {
	var looks atomic.Int64
	r := open(t, func(o *social.Options) {
		o.Limits.Reserve = 1 << 20
		o.Space = func(string) (free, size uint64, err error) {
			if looks.Add(1) > 3 { // others fill it while this one comes
				return 1<<20 - 1, math.MaxInt64, nil
			}
			return 1 << 40, math.MaxInt64, nil
		}
	})
	d := social.Draft{Type: social.Song, Title: "long", Rights: true}
	endless := io.LimitReader(strings.NewReader(strings.Repeat("x", 64<<20)), 64<<20)
	if _, err := r.Submit(t.Context(), listener(1), d, "upload", -1, endless); !errors.Is(err, station.ErrFull) {
		t.Errorf("on a disk that is full by now: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(r.dir, "social", "incoming")); len(left) != 0 {
		t.Errorf("what was refused is kept: %v", left)
	}
}

// Bodies that are not whole yet count in no limit of posts, so they have limits of their own.
func TestBodiesThatComeAtOnceAreBounded(t *testing.T) {
	r := open(t, nil)
	d := social.Draft{Type: social.Song, Title: "slow", Rights: true}
	var held []*io.PipeWriter
	ended := make(chan error)
	begin := func(from social.Client) error {
		body, feed := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := r.Submit(t.Context(), from, d, "upload", -1, body)
			_ = body.Close() // of one that was refused: the feed fails
			done <- err
			ended <- err
		}()
		if _, err := feed.Write([]byte("x")); err != nil {
			<-ended
			return <-done
		}
		held = append(held, feed)
		return nil
	}
	one := listener(1)
	for n := range 4 {
		one.Device = fmt.Sprintf("made-up-%d", n)
		if err := begin(one); err != nil {
			t.Fatal(err)
		}
	}
	var limit *client.LimitError
	if err := begin(one); !errors.As(err, &limit) {
		t.Errorf("a fifth of one address: %v", err)
	}
	for n := range 28 {
		if err := begin(listener(10 + n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := begin(listener(99)); !errors.Is(err, station.ErrFull) {
		t.Errorf("beyond all places: %v", err)
	}
	for _, feed := range held {
		_ = feed.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range held {
		<-ended
	}
	if err := begin(one); err != nil {
		t.Errorf("once they have left: %v", err)
	}
	_ = held[len(held)-1].CloseWithError(io.ErrUnexpectedEOF)
	<-ended
}
