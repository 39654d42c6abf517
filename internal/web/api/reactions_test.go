package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// reactions takes note of what arrives.
type reactions struct {
	sync.Mutex
	from []feedback.Client
	in   []feedback.ReactionIn
	fail error
}

func (r *reactions) Counts() map[string]int64 { return map[string]int64{"🔥": 7} }

func (r *reactions) React(_ context.Context, from feedback.Client, in feedback.ReactionIn) (feedback.Reacted, error) {
	r.Lock()
	defer r.Unlock()
	r.from, r.in = append(r.from, from), append(r.in, in)
	return feedback.Reacted{Emoji: in.Emoji, Count: 8}, r.fail
}

// vibes has one vote for everyone.
type vibes struct{ fail error }

func (v *vibes) Counts() map[string]int { return map[string]int{"tarab": 3, "chill": 0} }
func (v *vibes) Mine(from feedback.Client) string {
	return map[string]string{"my-own-device": "tarab"}[from.Device]
}
func (v *vibes) Vote(_ context.Context, _ feedback.Client, in feedback.VibeIn) (feedback.Vibed, error) {
	return feedback.Vibed{Vibe: in.Vibe, Counts: v.Counts()}, v.fail
}

func TestReactionsAreReadAndSent(t *testing.T) {
	r := newRigWithKey(t, "open-sesame") // listeners have none
	if code, head, body := r.call(t, "GET", "/api/reactions", ""); code != 200 || strings.TrimSpace(body) != `{"🔥":7}` || head.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", code, head, body)
	}
	code, _, body := r.call(t, "POST", "/api/reactions", `{"emoji":"🔥"}`, "X-Forwarded-For", "198.51.100.1", "X-Athir-Device", "my-own-device")
	if code != 200 || strings.TrimSpace(body) != `{"emoji":"🔥","count":8}` {
		t.Errorf("%d %s", code, body)
	}
	r.call(t, "POST", "/api/reactions", `{"emoji":"😂","delta":10,"id":"12345678"}`, "X-Athir-Device", "no device!")
	want := []string{"{198.51.100.1 my-own-device false} {🔥 1 }", "{  false} {😂 10 12345678}"}
	for i, in := range r.reactions.in {
		if got := fmt.Sprint(r.reactions.from[i], in); got != want[i] {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
	for _, bad := range []string{
		`{}`, `{"emoji":""}`, `{"emoji":"🔥","delta":0.5}`, `{"emoji":"🔥","delta":11}`, `{"emoji":"🔥","delta":-1}`, `{"emoji":5}`,
		`{"emoji":"🔥","id":"` + strings.Repeat("x", 65) + `"}`, `{"emoji":"🔥","more":1}`, `{"emoji":"` + strings.Repeat("x", 65) + `"}`,
	} {
		if code, _, body := r.call(t, "POST", "/api/reactions", bad); code != 422 || !strings.Contains(body, "body") {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
	if len(r.reactions.in) != 2 {
		t.Errorf("%d were counted", len(r.reactions.in))
	}
	// What the part itself refuses.
	r.reactions.fail = fmt.Errorf("id: already used for another request: %w", station.ErrConflict)
	if code, _, body := r.call(t, "POST", "/api/reactions", `{"emoji":"🔥","id":"12345678"}`); code != 409 || !strings.Contains(body, "already used") {
		t.Errorf("%d %s", code, body)
	}
	r.reactions.fail = fmt.Errorf("emoji: must be one emoji: %w", station.ErrInvalid)
	if code, _, body := r.call(t, "POST", "/api/reactions", `{"emoji":"x"}`); code != 422 || !strings.Contains(body, `"location":"body.emoji"`) || !strings.Contains(body, `"message":"must be one emoji"`) {
		t.Errorf("%d %s", code, body)
	}
	r.reactions.fail = &client.LimitError{RetryAfter: 1500 * time.Millisecond}
	if code, head, body := r.call(t, "POST", "/api/reactions", `{"emoji":"🔥"}`); code != http.StatusTooManyRequests || head.Get("Retry-After") != "2" {
		t.Errorf("%d %v %s", code, head, body)
	}
}

func TestVibeIsReadAndVotedFor(t *testing.T) {
	r := newRigWithKey(t, "open-sesame")
	vibe := r.json(t, "/api/vibe")
	if counts := vibe["counts"].(map[string]any); !maps.Equal(counts, map[string]any{"tarab": 3.0, "chill": 0.0}) || vibe["mine"] != nil {
		t.Errorf("%v", vibe)
	}
	if _, _, body := r.call(t, "GET", "/api/vibe", "", "X-Athir-Device", "my-own-device"); !strings.Contains(body, `"mine":"tarab"`) {
		t.Errorf("%s", body)
	}
	if code, _, body := r.call(t, "POST", "/api/vibe", `{"vibe":"focus","id":"12345678"}`); code != 200 || !strings.Contains(body, `"vibe":"focus","counts":{`) {
		t.Errorf("%d %s", code, body)
	}
	for _, bad := range []string{`{}`, `{"vibe":"sad"}`, `{"vibe":"Focus"}`, `{"vibe":["focus"]}`} {
		code, _, body := r.call(t, "POST", "/api/vibe", bad)
		if code != 422 || !strings.Contains(body, "body.vibe") || bad == `{"vibe":"sad"}` && !strings.Contains(body, "tarab") {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
}
