package webpush_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// What became of a listener's request is told to the device that asked, and to no other.
func TestOnesOwnGoesToOnesOwnDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		subscribe := func(path, device string, w webpush.Wishes) {
			if _, err := r.push.Subscribe(t.Context(), webpush.Client{Device: client.DeviceKey(device)}, r.order(path, w)); err != nil {
				t.Fatal(err)
			}
		}
		subscribe("/mine", "device-of-mine", webpush.Wishes{Lang: "ar"})
		subscribe("/also", "device-of-mine", webpush.Wishes{Lang: "en"})
		subscribe("/other", "device-of-other", webpush.Wishes{})
		subscribe("/none", "", webpush.Wishes{})
		at := r.now()
		aired := webpush.Notice{Topic: webpush.Own, Device: client.DeviceKey("device-of-mine"), Key: "aired 7", At: at, Step: "request_aired", Title: "نسم علينا", Artist: "فيروز"}
		got := r.told(aired)
		if paths(got) != "/also /mine" {
			t.Fatalf("told %s", paths(got))
		}
		for _, l := range got {
			want := map[string]string{"ar": "طلبك الآن على أثير", "en": "Your request is on أثير now"}[l.Lang]
			if l.Title != want || l.Body != "نسم علينا – فيروز" || l.Tag != "own" {
				t.Errorf("%+v", l.Message)
			}
		}
		if again := r.told(aired); len(again) != 0 {
			t.Errorf("told again: %s", paths(again))
		}
		if got := r.told(webpush.Notice{Topic: webpush.Own, Key: "aired 8", At: at.Add(time.Second), Step: "request_aired"}); len(got) != 0 {
			t.Errorf("of nobody's device: %s", paths(got))
		}
		// A browser that subscribes anew without naming its device keeps it.
		_, err := r.push.Subscribe(t.Context(), webpush.Client{}, webpush.Order{})
		if err == nil {
			t.Error("an empty subscription is kept")
		}
		if _, err := r.push.Subscribe(t.Context(), webpush.Client{}, r.order("/x", webpush.Wishes{Topics: []webpush.Topic{webpush.Own}})); station.Status(err) != 422 {
			t.Errorf("own is chosen: %v", err)
		}
	})
}
