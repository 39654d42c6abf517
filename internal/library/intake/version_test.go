package intake

import (
	"slices"
	"testing"
	"time"
)

func TestTheVersionIsAnotherWheneverTheListIs(t *testing.T) {
	r := newRig(t)
	seen := []string{r.Version(t.Context())}
	changes := func(what string, change func()) {
		t.Helper()
		change()
		now := r.Version(t.Context())
		if slices.Contains(seen, now) {
			t.Errorf("%s: it is %s as before", what, now)
		}
		if r.Version(t.Context()) != now {
			t.Errorf("%s: it changes by itself", what)
		}
		seen = append(seen, now)
	}
	var id string
	changes("a file comes", func() { id = r.send("200|Dido|Thank You|guitar", "a.mp3", "category", "english") })
	changes("it is placed", func() { r.run(); r.expect(id, Taken, "english/Dido - Thank You.mp3") })
	changes("it can air", func() { r.shelf.airs = true })
	changes("another process", func() { r.open() })
	changes("its line goes", func() {
		r.clock.pass(25 * time.Hour)
		r.tidy(t.Context())
	})
}

// The list is asked for as a whole: a collection that was taken does not stay in it.
func TestTheLatestLinesOfWhatWasTakenAreKept(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits = Limits{Placed: 2} })
	var ids []string
	for _, name := range []string{"One", "Two", "Three"} {
		ids = append(ids, r.send("200|Dido|"+name+"|"+name, name+".mp3", "category", "english"))
		r.run()
		r.expect(ids[len(ids)-1], Taken, "english/Dido - "+name+".mp3")
		r.clock.pass(time.Minute)
	}
	asks := r.send("200|Abba|Four|four", "four.mp3")
	r.run()
	r.tidy(t.Context())
	var left []string
	all, _ := r.List(t.Context())
	for _, a := range all {
		left = append(left, a.ID)
	}
	if want := []string{ids[1], ids[2], asks}; !slices.Equal(left, want) {
		t.Errorf("%v, want %v", left, want)
	}
	if len(content(t, r.shelf.media)) == 0 {
		t.Error("the files went with their lines")
	}
}
