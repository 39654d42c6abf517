package feed

import (
	"hash/maphash"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/podcast"
)

// downloads tells which requests are downloads, by the plain rules of the IAB's Podcast Measurement
// Technical Guidelines 2.1: a listener, who is an address and a program, downloads an episode at
// most once a day, and only by getting a minute of its sound or, where it is shorter, the whole of
// it, in one request or several. The tag before the sound is no sound. HEAD, what browsers load
// ahead of a visit, programs that say no name, and those that search or watch are nobody.
//
// Left out are the IAB's list of robots, which is not free, and of the networks of data centres;
// what several programs say of a listener who moves to another address; the days of listeners
// elsewhere: all are of UTC. Bytes that a client gets twice count twice. Behind a proxy that
// identifies nobody, all who have the same program are one.
//
// No address is kept: listeners are known by a number that is made with a secret of the day. There
// are mostListeners of them at most, twice: who is forgotten because of more may be counted twice.
type downloads struct {
	now func() time.Time

	mu          sync.Mutex
	day         int64
	seed        maphash.Seed
	got, before map[uint64]int64
}

const (
	mostListeners = 1 << 16
	// mostPrograms is how many programs of one address may download an episode in a day: there is a
	// household or an office behind it, or somebody who makes up names.
	mostPrograms = 32
	// heard marks who was counted.
	heard = -1
)

// metered returns the sound, of which count is called once a listener has got enough.
func (d *downloads) metered(r *http.Request, e *podcast.Episode, f *os.File, size int64, count func()) io.ReadSeeker {
	agent := r.UserAgent()
	if r.Method != http.MethodGet || robot(agent) || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") == "prefetch" {
		return f
	}
	begins := min(leading(f), size)
	enough := size - begins
	if minute := int64(time.Minute / time.Millisecond); e.DurationMS > minute {
		enough = enough * minute / e.DurationMS
	}
	if enough <= 0 {
		return f
	}
	return &metered{f: f, begins: begins, got: func(n int64) (done bool) {
		done, first := d.add(client.Address(r), agent, e.Show+"/"+e.ID, n, enough)
		if first {
			count()
		}
		return done
	}}
}

// metered counts the bytes that are read of the sound.
type metered struct {
	f          *os.File
	at, begins int64
	done       bool
	got        func(n int64) (done bool)
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.f.Read(p)
	m.at += int64(n)
	if sound := min(int64(n), m.at-m.begins); sound > 0 && !m.done {
		m.done = m.got(sound)
	}
	return n, err
}

func (m *metered) Seek(offset int64, whence int) (int64, error) {
	at, err := m.f.Seek(offset, whence)
	m.at = at
	return at, err
}

// add adds bytes of a listener's. done: no more need be added; first: the listener has enough
// now and was not counted before.
func (d *downloads) add(address, agent, episode string, n, enough int64) (done, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if day := d.now().Unix() / int64((24 * time.Hour).Seconds()); day != d.day || d.got == nil {
		d.day, d.seed = day, maphash.MakeSeed()
		d.got, d.before = map[uint64]int64{}, nil
	}
	listener := d.number(address, agent, episode)
	has := d.find(listener)
	if has == heard {
		return true, false
	}
	if has += n; has < enough {
		d.put(listener, has)
		return false, false
	}
	d.put(listener, heard)
	programs := d.number(address, "", episode)
	counted := d.find(programs)
	if address != "" && counted >= mostPrograms {
		return true, false
	}
	d.put(programs, counted+1)
	return true, true
}

func (d *downloads) number(texts ...string) uint64 {
	return maphash.Comparable(d.seed, [3]string(texts))
}

func (d *downloads) find(number uint64) int64 {
	if n, has := d.got[number]; has {
		return n
	}
	return d.before[number]
}

func (d *downloads) put(number uint64, n int64) {
	if len(d.got) >= mostListeners {
		d.got, d.before = map[uint64]int64{}, d.got
	}
	d.got[number] = n
}

// robot reports whether a program says that nobody listens by it.
func robot(agent string) bool {
	agent = strings.ToLower(strings.TrimSpace(agent))
	if agent == "" {
		return true
	}
	for _, part := range robots() {
		if strings.Contains(agent, part) {
			return true
		}
	}
	return false
}

// robots are parts of the names of programs that search, show links, watch or are written by
// programmers. A watch downloads again what its phone has.
func robots() []string {
	return []string{
		"bot", "crawl", "spider", "slurp", "externalhit", "preview", "whatsapp", "embedly", "monitor", "uptime", "pingdom", "headless", "validator", "archiver",
		"feedfetcher", "python", "go-http-client", "libwww", "curl/", "wget/", "java/", "ruby", "node-fetch", "axios/", "lavf/", "watchos",
	}
}
