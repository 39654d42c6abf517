package record_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/record"
)

// What a source says that it plays has the place in the file where that is heard.
func TestTitlesHaveTheirPlaceInTheFile(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir})
	stop := testkit.Background(t, r.Run)
	r.Titled("before anything is recorded", "")
	r.Begin(sara)
	say(t, r, 0, 100)
	r.Titled("too short to be heard", "")
	r.Titled("عودت عيني", "أم كلثوم")
	say(t, r, 100, 250)
	r.Titled(" \x00", "")
	r.Titled("two\nlines", strings.Repeat("ن", 300))
	say(t, r, 250, 300)
	r.End("stopped by the studio")
	rec := ended(t, r)
	r.Titled("after its end", "")
	stop()

	want := []record.Title{{AtMS: 100 * live.Tick.Milliseconds(), Title: "عودت عيني", Creator: "أم كلثوم"}, {AtMS: 250 * live.Tick.Milliseconds(), Title: "two lines", Creator: strings.Repeat("ن", 100)}}
	again, _ := open(t, record.Options{Dir: dir})
	for _, r := range []*record.Recorder{r, again} {
		if got, err := r.Titles(rec.Name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	ask := func(path string) string {
		t.Helper()
		answer := httptest.NewRecorder()
		again.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return answer.Body.String()
	}
	var told []record.Title
	if err := json.Unmarshal([]byte(ask("/recordings/"+url.PathEscape(rec.Name)+"/titles")), &told); err != nil || !slices.Equal(told, want) {
		t.Errorf("%+v, %v", told, err)
	}
	if list := ask("/recordings?most=1000"); strings.Contains(list, "titles") || !strings.Contains(list, rec.Name) {
		t.Errorf("the list: %s", list)
	}
}

// The audio that a killed encoder held is not in the file, and moves no place behind it.
func TestTitlesOutliveTheirEncoder(t *testing.T) {
	dir := t.TempDir()
	r, _ := open(t, record.Options{Dir: dir})
	testkit.Background(t, r.Run)
	r.Begin(sara)
	say(t, r, 0, 200)
	testkit.Eventually(t, "some of it is in the file", func() bool { return r.List()[0].DurationMS > 2000 })
	testkit.Eventually(t, "an encoder", func() bool { return r.Encoder() != 0 })
	first := r.Encoder()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	n := 200
	testkit.Eventually(t, "another encoder", func() bool {
		if r.Queued() < live.Rate {
			r.Write(ladder(n))
			n++
		}
		return r.Encoder() != first
	})
	say(t, r, n, n+100)
	r.Titled("another song", "")
	say(t, r, n+100, n+150)
	r.End("stopped by the studio")
	rec := ended(t, r)
	got, err := r.Titles(rec.Name)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	// After it 50 ticks were recorded, to the end.
	after := time.Duration(rec.DurationMS-got[0].AtMS) * time.Millisecond
	if off := (after - 50*live.Tick).Abs(); off > 200*time.Millisecond {
		t.Errorf("the title stands %v before the end, %v off: %+v", after, off, rec)
	}
}

// However many titles a source tells, they have a bound.
func TestTitlesAreBounded(t *testing.T) {
	r, _ := open(t, record.Options{Dir: t.TempDir()})
	testkit.Background(t, r.Run)
	r.Begin(sara)
	for n := range 500 {
		say(t, r, n, n+1)
		r.Titled(fmt.Sprintf("%d%s", n, strings.Repeat("<", 300)), "")
	}
	say(t, r, 500, 501)
	r.End("stopped by the studio")
	all, err := r.Titles(ended(t, r).Name)
	if err != nil || len(all) < 200 || len(all) > 300 {
		t.Errorf("%d titles, %v", len(all), err)
	}
}
