//go:build soak

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// yearsVar is how long TestSoakYearsOnTheAir lasts, 6h. Its hours are a sixth of that.
const yearsVar = "ATHIR_YEARS"

// The station's years in six hours: 500 listeners, writers, submissions, presenters, a kill
// every few minutes and an upgrade every hour, all at once. Nothing that was acknowledged is
// lost; nobody is disconnected but by the end of the program that served him; no silence but
// around a kill; and memory, handles and goroutines do not grow. It prints a page.
func TestSoakYearsOnTheAir(t *testing.T) {
	long, err := time.ParseDuration(envOr(yearsVar, "6h"))
	if err != nil || long < 5*time.Minute {
		t.Fatalf("%s=%s: must be a duration of 5m at least", yearsVar, os.Getenv(yearsVar))
	}
	s := newStation(t, withKeys, withGuard, func(s *station) {
		s.env = append(s.env, "SOCIAL_ADMIN_KEY="+moderatorKey, "ATHIR_SOCIAL_ADDRESS_PER_HOUR=10000", "ATHIR_SOCIAL_PER_HOUR=1000",
			"ATHIR_SOCIAL_PER_DAY=10000", "ATHIR_SOCIAL_WAITING=10000", "ATHIR_SOCIAL_QUEUE=100000")
	})
	s.program = released(t)
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 20, time.Minute}, {"music/english", 20, 40, time.Minute}})
	s.configure(programmeRules(60, []rotation.Daypart{}))
	s.start().whole()
	s.hlsReady()
	y := &years{t: t, s: s, hour: long / 6, programs: []string{copyOf(t, s.program, "one"), copyOf(t, s.program, "two")}, posts: submissions(400)}
	y.run(long)
}

// years is one run.
type years struct {
	t        *testing.T
	s        *station
	hour     time.Duration
	programs []string
	posts    []posting
	diary    diary
	log      ledger

	sent, upgrades, shows int
	tries                 atomic.Int64
	hands                 sync.WaitGroup // that send posts
}

// killed are the programs that end now and then, and what each serves.
var killed = []string{"control", "chat", "liquidsoap", "icecast", "relay", "bridge", "nginx", "player", "desk", "whip"}

// run does what is due, one thing after the other, beside those who listen and write.
func (y *years) run(long time.Duration) {
	ctx, end := context.WithCancel(y.t.Context())
	defer end()
	a := y.s.audienceOf(ctx, &y.diary, 240, 140, 100, 20)
	c := newCrowd(y.s, y.s.url("control", ""), y.s.url("chat", ""), y.s.url("player", ""))
	stopWriting := c.begin(1)
	id, secret := y.s.publisher("نور", true)
	began := time.Now()
	y.log.sample(y.s)
	due := []*duty{
		{name: "sample", every: max(5*time.Second, y.hour/60), do: func() { y.log.sample(y.s) }},
		{name: "post", every: y.hour / 30, do: func() { y.post(ctx) }},
		{name: "kill", every: y.hour / 12, do: y.kill},
		{name: "show", every: y.hour / 4, do: func() { y.show(id, secret) }},
		{name: "upgrade", every: y.hour, do: y.upgrade},
	}
	for i, d := range due {
		d.at = began.Add(d.every/2 + time.Duration(i)*time.Second)
	}
	for time.Since(began) < long && !y.t.Failed() {
		next := slices.MinFunc(due, func(a, b *duty) int { return a.at.Compare(b.at) })
		select {
		case <-time.After(time.Until(next.at)):
		case <-y.s.ended:
			y.t.Fatal("the station has ended")
		}
		next.do()
		next.at = next.at.Add(next.every)
		if next.at.Before(time.Now()) { // a machine that is late does not catch up
			next.at = time.Now().Add(next.every)
		}
	}
	y.s.eventually("everything runs", func() bool { st, err := y.s.status(); return err == nil && st.State == "music" })
	y.log.sample(y.s)
	stopWriting()
	y.hands.Wait()
	a.end()
	y.judge(a, c, time.Since(began))
}

// duty is one of the things that are done again and again.
type duty struct {
	name  string
	every time.Duration
	at    time.Time
	do    func()
}

func (y *years) post(ctx context.Context) {
	if y.sent == len(y.posts) {
		return
	}
	i := y.sent
	y.sent++
	y.hands.Go(func() { y.s.send(ctx, &y.posts[i], i, &y.tries) })
}

func (y *years) kill() {
	name := killed[rand.IntN(len(killed))]
	if p, err := y.s.process(name); err == nil && p.PID != 0 && syscall.Kill(p.PID, syscall.SIGKILL) == nil {
		y.diary.note("killed " + name)
	}
}

// show lets a presenter take the air for a while, and wants the rotation back.
func (y *years) show(id, secret string) {
	y.diary.note("a presenter connects")
	connect := func() (end func(), ended <-chan struct{}) {
		return y.s.encoding(freeTone, y.s.toMount(id, secret, "/nour")...)
	}
	end, ended := connect()
	y.s.eventually("the presenter is on the air", func() bool {
		select {
		case <-ended: // by a kill: a presenter's program connects again
			end, ended = connect()
		default:
		}
		st, err := y.s.status()
		return err == nil && st.State == "live"
	})
	select {
	case <-time.After(y.hour / 60):
	case <-y.s.ended:
	}
	end()
	y.diary.note("the presenter leaves")
	y.s.eventually("the rotation is back", func() bool { st, err := y.s.status(); return err == nil && st.State == "music" })
	y.shows++
}

// upgrade has the station go on as another program once all runs.
func (y *years) upgrade() {
	y.s.whole()
	y.diary.note("upgrade begins")
	y.s.upgrade(y.programs[y.upgrades%2])
	y.diary.note("upgrade ends")
	y.upgrades++
}

// judge holds what was seen against what is promised, and prints the page.
func (y *years) judge(a *heardBy, c *crowd, lasted time.Duration) {
	db := y.s.database()
	defer db.Close() //nolint:errcheck // only read
	y.s.eventually("every post has had its end", func() bool {
		var open int
		return db.QueryRow(`SELECT count(*) FROM social_posts WHERE status = 'processing'`).Scan(&open) == nil && open == 0
	})
	c.judge()
	y.s.judgeOutcomes(db, y.posts[:y.sent])
	y.s.judgeFiles(db)
	var page strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	say("%s, 500 listeners: %d upgrades, %d shows, %d posts, killed %v", lasted.Round(time.Minute), y.upgrades, y.shows, y.sent, y.diary.count("killed "))
	for _, what := range a.judge(y.t) {
		say("%s", what)
	}
	for _, what := range y.log.judge(y.t) {
		say("%s", what)
	}
	for line := range strings.Lines(page.String()) {
		y.t.Logf("YEARS %s", strings.TrimSpace(line))
	}
	if y.upgrades == 0 || y.shows == 0 || y.sent == 0 {
		y.t.Errorf("%d upgrades, %d shows, %d posts: the run was too short", y.upgrades, y.shows, y.sent)
	}
	if code, _ := y.s.call(http.MethodGet, "control", "/healthz", "", ""); code != http.StatusOK {
		y.t.Errorf("/healthz answers %d", code)
	}
}

// diary is what happened and when.
type diary struct {
	mu     sync.Mutex
	events []happened
}

func (d *diary) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, happened{time.Now(), what})
}

// between lists what happened in a span.
func (d *diary) between(from, to time.Time) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.events {
		if e.at.After(from) && e.at.Before(to) {
			out = append(out, fmt.Sprintf("%+.1f %s", e.at.Sub(from).Seconds(), e.what))
		}
	}
	return out
}

// count is how often each event happened whose words begin so.
func (d *diary) count(prefix string) map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]int{}
	for _, e := range d.events {
		if name, is := strings.CutPrefix(e.what, prefix); is {
			out[name]++
		}
	}
	return out
}
