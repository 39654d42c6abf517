package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// besideMain are real channels that nobody listens to.
type besideMain struct{ *channels.Channels }

func (besideMain) ListenersOf(string) int { return 2 }

func (r *rig) openChannels(t *testing.T) *channels.Channels {
	t.Helper()
	all, err := channels.Open(t.Context(), channels.Options{
		Log: r.log, DB: r.db, Now: time.Now, Airs: func(string) (string, float64) { return "", 0 },
		Find: func(string) (station.Track, bool) { return station.Track{}, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestChannelsAreMadeQueuedOnAndRemoved(t *testing.T) {
	r := newRig(t)
	if code, body := r.send(t, "POST", "/api/channels/create", `{"id":"fairuz","name":"فيروز"}`); code != http.StatusCreated || body["stream"] != "/stream/fairuz" {
		t.Fatalf("%d %v", code, body)
	}
	for body, want := range map[string]int{
		`{"id":"fairuz","name":"again"}`: 409, `{"id":"main","name":"x"}`: 409, `{"id":"Big","name":"x"}`: 422,
		`{"id":"x","name":" "}`: 422, `{"id":"x"}`: 422, `{"id":"","name":"x"}`: 422,
	} {
		if code, answer := r.send(t, "POST", "/api/channels/create", body); code != want {
			t.Errorf("%s: %d %v", body, code, answer)
		}
	}
	for _, c := range []struct {
		channel, body string
		want          int
	}{
		{"fairuz", `{"file":"music/english/3.mp3"}`, 200}, {"fairuz", `{"category":"english"}`, 200}, {"fairuz", `{"file":"none.mp3"}`, 404},
		{"fairuz", `{}`, 422}, {"fairuz", `{"category":"ads"}`, 409}, {"fairuz", `{"category":"none"}`, 422}, {"none", `{"category":"english"}`, 404},
		{"main", `{"file":"music/english/4.mp3"}`, 200}, {"main", `{"file":"none.mp3"}`, 404},
	} {
		if code, answer := r.send(t, "POST", "/api/channels/"+c.channel+"/queue", c.body); code != c.want {
			t.Errorf("%s %s: %d %v", c.channel, c.body, code, answer)
		}
	}
	if told := r.desk.told; len(told) != 1 || told[0] != `queue "music/english/4.mp3"` {
		t.Errorf("the desk was told %v", told)
	}
	_, _, text := r.call(t, "GET", "/api/channels", "")
	var is struct{ Channels []api.Channel }
	if err := json.Unmarshal([]byte(text), &is); err != nil || len(is.Channels) != 2 {
		t.Fatalf("%v %s", err, text)
	}
	main, made := is.Channels[0], is.Channels[1]
	if main.ID != "main" || main.HLS == "" || made.HLS != "" || made.NowPlaying != main.NowPlaying || made.Listeners != 2 ||
		len(made.Queue) != 2 || made.Queue[0] != "music/english/3.mp3" || !strings.HasPrefix(made.Queue[1], "music/english/") {
		t.Errorf("%s", text)
	}
	for _, c := range []struct {
		id   string
		want int
	}{{"main", 409}, {"none", 404}, {"fairuz", 204}, {"fairuz", 404}} {
		if code, _, body := r.call(t, "DELETE", "/api/channels/"+c.id, ""); code != c.want {
			t.Errorf("%s: %d %s", c.id, code, body)
		}
	}
}
