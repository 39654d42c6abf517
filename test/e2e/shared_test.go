package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// common is a station that several tests use. The first that asks starts it, the last
// that has come for it ends it.
type common struct {
	prepared []option
	// air is held for reading by tests that only look, and by one that steers or
	// kills alone.
	air sync.RWMutex

	mu  sync.Mutex
	s   *station
	due int // tests that are not done with it
}

// listened is looked at and steered; mortal is where programs are killed.
var (
	listened = common{prepared: []option{withKeys, withWebhooks, airing44}}
	mortal   = common{prepared: []option{withKeys, withWebhooks, steady}}
)

// look returns the shared station for a test that changes nothing on its air.
func look(t *testing.T) *station {
	t.Helper()
	listened.expects(t)
	t.Parallel()
	listened.air.RLock()
	t.Cleanup(listened.air.RUnlock)
	return listened.use(t)
}

// steer returns the shared station for a test that changes its air.
func steer(t *testing.T) *station {
	t.Helper()
	return listened.alone(t)
}

// torment returns the station for tests that kill its programs, once the test has had its
// turn at what else it needs.
func torment(t *testing.T, turns ...func(*testing.T)) *station {
	t.Helper()
	return mortal.alone(t, turns...)
}

// alone is use by one test at a time. What a failed test leaves behind is not
// used again.
func (c *common) alone(t *testing.T, turns ...func(*testing.T)) *station {
	t.Helper()
	c.expects(t)
	t.Parallel()
	for _, waits := range turns {
		waits(t)
	}
	c.air.Lock()
	t.Cleanup(c.air.Unlock)
	t.Cleanup(func() {
		if t.Failed() {
			if err := c.end(); err != nil {
				t.Error(err)
			}
		}
	})
	return c.use(t)
}

// expects ends the station with the last test that needs it. Each says so before it waits
// for its turn, so all have by the time that the first one goes on.
func (c *common) expects(t *testing.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due++
	t.Cleanup(func() {
		c.mu.Lock()
		c.due--
		last := c.due == 0
		c.mu.Unlock()
		if last {
			if err := c.end(); err != nil {
				t.Errorf("the end of a shared station: %v", err)
			}
		}
	})
}

// use returns the station whole, as a test of its own sees it.
func (c *common) use(t *testing.T) *station {
	t.Helper()
	c.mu.Lock()
	if c.s == nil {
		places <- struct{}{}
		dir, err := os.MkdirTemp(filepath.Dir(binary), "station-")
		if err == nil {
			err = os.Chmod(dir, 0o755) // the streaming server's user looks in
		}
		if err != nil {
			<-places
			c.mu.Unlock()
			t.Fatal(err)
		}
		c.s = prepare(t, dir, c.prepared...)
		c.s.launch()
	}
	s := &station{t, c.s.machine}
	c.mu.Unlock()
	s.showLog()
	s.whole()
	s.hlsReady()
	return s
}

// end stops the station, if it was started.
func (c *common) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.s == nil {
		return nil
	}
	err := c.s.halt()
	c.s.forget()
	err = errors.Join(err, os.RemoveAll(filepath.Dir(c.s.data)))
	c.s = nil
	<-places
	return err
}

// withWebhooks lets the one that takes webhooks be a test.
func withWebhooks(s *station) { s.env = append(s.env, "ATHIR_WEBHOOKS_ALLOW_PRIVATE=true") }

// airing44 has every category of the programme's library, and its rules.
func airing44(s *station) {
	record(s.t, s.media, sample())
	s.configure(programmeRules(30, []rotation.Daypart{}))
}

// steady has a rotation that lasts for the whole of a test, whatever the hour.
func steady(s *station) {
	fill(s.t, s.media, decks)
	rules := rotation.DefaultConfig()
	rules.Rotation.MusicMin, rules.Dayparts = 1000, []rotation.Daypart{}
	s.configure(rules)
}

// sample is 44 tracks of the programme's library, long enough to press a button in.
func sample() (out []piece) {
	left := map[string]int{
		"arabic_hits": 14, "english": 12, "mashups": 2, "social": 3, "jingles": 2,
		"sweepers": 3, "ads": 2, "news": 2, "shorts": 2, "sfx": 2,
	}
	for _, p := range library() {
		if p.length == tooShort && p.category.Music() || left[string(p.category)] == 0 {
			continue
		}
		left[string(p.category)]--
		p.length = 2 * time.Second
		if p.category.Music() {
			p.length = 6 * time.Second
		}
		out = append(out, p)
	}
	return out
}
