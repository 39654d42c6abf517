package social_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// servers are what addresses lead to: slow ones send nothing until they are left, all others
// send one file.
type servers struct {
	file    string
	waiting atomic.Int64
	begun   atomic.Int64
}

func (s *servers) File(ctx context.Context, r fetch.Request, path string, _ func(done, total int64)) (fetch.File, error) {
	if strings.Contains(r.URL, "slow") {
		s.begun.Add(1)
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		<-ctx.Done()
		return fetch.File{}, ctx.Err()
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return fetch.File{}, err
	}
	return fetch.File{Size: int64(len(data))}, os.WriteFile(path, data, 0o600)
}

// Whoever has servers that send nothing holds up no file that was sent, and no address of
// another network.
func TestSlowAddressesHoldNobodyUp(t *testing.T) {
	from := &servers{}
	r := open(t, func(o *social.Options) { o.Fetch = from })
	from.file = music(t, r.dir, 30, 6)
	address := func(c social.Client, url string) int64 {
		t.Helper()
		got, err := r.SubmitURL(t.Context(), c, social.Draft{Type: social.Voice, Title: "x", Rights: true}, url)
		if err != nil {
			t.Fatal(err)
		}
		return got.ID
	}
	slow := map[int64]bool{}
	for n := range 20 {
		slow[address(madeUp("198.51.100.%d", n), fmt.Sprintf("http://slow.example/%d", n))] = true
	}
	sent := r.send(t, 1, social.Draft{Type: social.Voice, Title: "sent"}, music(t, r.dir, 31, 6))
	fetched := address(listener(2), "http://example.org/x.mp3")
	stop := testkit.Background(t, r.Run)
	defer stop()
	for _, id := range []int64{sent.ID, fetched} {
		testkit.Eventually(t, "it is processed", func() bool { return r.get(t, id).Status != social.Processing })
		if p := r.get(t, id); p.Status != social.Pending || p.Tries != 1 {
			t.Errorf("post %d is %s after %d tries: %v", id, p.Status, p.Tries, p.Reason)
		}
	}
	testkit.Eventually(t, "one of the slow ones is fetched", func() bool { return from.waiting.Load() == 1 })
	for n := range 10 { // of other networks
		slow[address(listener(100+n), "http://slow.example/")] = true
	}
	testkit.Eventually(t, "eight are fetched", func() bool { return from.waiting.Load() == 8 })
	for id := range slow {
		p := r.get(t, id)
		if stage, _ := r.Work(&p); stage == social.Fetching {
			if err := r.Withdraw(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	testkit.Eventually(t, "the next takes its place", func() bool { return from.begun.Load() == 9 })
}
