package bulletin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBulletinsComeAfterBootThenEveryHours(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		takes func(n int) time.Duration
		want  []string // when they begin, from the start
	}{
		"hourly":              {time.Hour, func(int) time.Duration { return 20 * time.Second }, []string{"30s", "1h0m30s", "2h0m30s", "3h0m30s", "4h0m30s"}},
		"every three":         {3 * time.Hour, func(int) time.Duration { return 0 }, []string{"30s", "3h0m30s"}},
		"never":               {0, nil, nil},
		"less than never":     {-time.Hour, nil, nil},
		"one that takes long": {time.Hour, func(n int) time.Duration { return time.Duration(n%2) * 150 * time.Minute }, []string{"30s", "3h0m30s", "4h0m30s"}},
		"exactly a turn":      {time.Hour, func(int) time.Duration { return time.Hour }, []string{"30s", "2h0m30s", "4h0m30s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, running := time.Now(), false
				var begun []string
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Hour)
				defer cancel()
				clock := Clock{Every: c.every, Log: slog.New(slog.DiscardHandler), Make: func(context.Context) error {
					if running {
						t.Error("two overlap")
					}
					running = true
					begun = append(begun, time.Since(begin).String())
					time.Sleep(c.takes(len(begun)))
					running = false
					return fmt.Errorf("made %d: %w", len(begun), errors.ErrUnsupported) // an error stops nothing
				}}
				if err := clock.Run(ctx); err != nil {
					t.Error(err)
				}
				if !slices.Equal(begun, c.want) {
					t.Errorf("they begin at %v, want %v", begun, c.want)
				}
			})
		})
	}
}

func TestTheClockEndsOnlyWhenItsBulletinHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		clock := Clock{Every: time.Hour, Log: slog.New(slog.DiscardHandler), Make: func(ctx context.Context) error {
			cancel()
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return ctx.Err()
		}}
		if err := clock.Run(ctx); err != nil || !ended {
			t.Errorf("it returns %v while a bulletin is made", err)
		}
	})
}
