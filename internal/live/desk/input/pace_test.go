package input

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// An encoder whose clock is a little fast sends for days; a file is noticed at once, also
// behind a day of live audio.
func TestAFastClockIsNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pace{to: io.Discard}
		second := make([]byte, bytesPerSecond)
		for n := range 60 * 60 * 24 * 3 {
			if _, err := p.Write(second); err != nil {
				t.Fatalf("refused after %s: %v", time.Duration(n)*time.Second, err)
			}
			time.Sleep(time.Second - time.Millisecond) // 1000 ppm
		}
		var err error
		for n := 0; n < 120 && err == nil; n++ {
			_, err = p.Write(second)
		}
		if !errors.Is(err, ErrTooFast) {
			t.Errorf("two minutes at once: %v", err)
		}
	})
}
