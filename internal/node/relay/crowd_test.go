package relay

import (
	"bytes"
	"context"
	"encoding/gob"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// count is how many are listening.
func count(ids []string, _ census.Count) int { return len(ids) }

// agent is a request of a program, from a country that the test's classifier knows by header.
func agent(name, country string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/main/index.m3u8", nil)
	r.Header.Set("User-Agent", name)
	r.Header.Set("Country", country)
	return r
}

func byHeader(r *http.Request) census.Who {
	return census.Who{Device: census.DeviceOf(r.UserAgent()), Country: census.CountryNamed(r.Header.Get("Country"))}
}

func TestListenersAreCountedByWhatTheirFirstRequestSays(t *testing.T) {
	limits := sessionLimits{fresh: time.Minute, idle: time.Minute, back: 10 * time.Minute, most: 10}
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	table := newSessions(limits, []byte("key"), noon)
	table.who = byHeader
	var tokens []string
	for _, r := range []*http.Request{agent("VLC/3.0", "EG"), agent("iPhone", "EG"), agent("iPhone", "JO"), agent("", "")} {
		token, _ := table.begin(noon, r)
		table.hear(token, noon)
		tokens = append(tokens, token)
	}
	fresh, _ := table.begin(noon, agent("curl/8", "DE")) // has fetched no audio: no listener
	table.touch(tokens[0], noon, agent("iPhone", "SY"))  // on another network: who it was when it came
	check := func(what string, table *sessions, at time.Time, devices, countries map[string]int) {
		t.Helper()
		_, kinds := table.listening(at)
		if got := kinds.Crowd(); !maps.Equal(got.Devices, devices) || !maps.Equal(got.Countries, countries) {
			t.Errorf("%s: %v", what, got)
		}
	}
	devices, countries := map[string]int{"player": 1, "iphone": 2, "other": 1}, map[string]int{"EG": 2, "JO": 1, "ZZ": 1}
	check("as they came", table, noon, devices, countries)

	// The next program has them as they were, through the form in which they are left.
	var left bytes.Buffer
	var in legacySessions
	if err := gob.NewEncoder(&left).Encode(table.estate()); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&left).Decode(&in); err != nil {
		t.Fatal(err)
	}
	next := newSessions(limits, []byte("key"), noon)
	next.who = byHeader
	next.resume(in)
	check("handed over", next, noon, devices, countries)
	next.hear(fresh, noon)
	check("and one more", next, noon, map[string]int{"player": 1, "iphone": 2, "other": 1, "bot": 1}, map[string]int{"EG": 2, "JO": 1, "ZZ": 1, "DE": 1})

	// After a kill they are those of the first request that comes.
	again := newSessions(limits, []byte("key"), noon.Add(time.Second))
	again.who = byHeader
	if !again.touch(tokens[1], noon.Add(2*time.Second), agent("iPhone", "EG")) {
		t.Fatal("the session is not taken up")
	}
	again.hear(tokens[1], noon.Add(2*time.Second))
	check("taken up", again, noon.Add(2*time.Second), map[string]int{"iphone": 1}, map[string]int{"EG": 1})
}

func TestThePathListTellsOfWhatKindsReadersAre(t *testing.T) {
	s, err := New(Options{StateDir: t.TempDir(), Who: byHeader})
	if err != nil {
		t.Fatal(err)
	}
	list := httptest.NewServer(s.pathsHandler())
	defer list.Close()
	ask := func() Path {
		t.Helper()
		p, err := ReadMainPath(context.Background(), list.Client(), list.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := ask(); len(p.Readers) != 0 || p.Crowd.Devices != nil {
		t.Errorf("nobody listens: %+v", p)
	}
	token, _ := s.sessions.begin(time.Now(), agent("Sonos/1", "DE"))
	s.sessions.hear(token, time.Now())
	if p := ask(); len(p.Readers) != 1 || p.Crowd.Devices["speaker"] != 1 || p.Crowd.Countries["DE"] != 1 {
		t.Errorf("%+v", p)
	}
}
