package secret_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/secret"
)

// The old one holds up to its time and not at it, by the clock alone: nobody has to end it.
func TestAnOldSecretHoldsUntilItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := secret.Of("first")
		s.Take("third", secret.Old{Text: "second", Until: time.Now().Add(time.Hour)}, secret.Old{Text: "first", Until: time.Now().Add(time.Minute)})
		check := func(when string, want ...string) {
			t.Helper()
			if got := s.Valid(); !slices.Equal(got, want) {
				t.Errorf("%s: %q hold, want %q", when, got, want)
			}
			for _, text := range []string{"first", "second", "third", "", "thir", "thirdd"} {
				if got := s.Matches(text); got != slices.Contains(want, text) {
					t.Errorf("%s: %q matches: %v", when, text, got)
				}
			}
		}
		check("at once", "third", "second", "first")
		time.Sleep(time.Minute - time.Nanosecond)
		check("just before", "third", "second", "first")
		time.Sleep(time.Nanosecond)
		check("after a minute", "third", "second")
		time.Sleep(time.Hour)
		check("after an hour", "third")
		s.Take("fourth")
		if got := s.Valid(); !slices.Equal(got, []string{"fourth"}) {
			t.Errorf("replaced without grace: %q hold", got)
		}
	})
}

func TestAnEmptySecretMatchesNothing(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Hour)
	for name, s := range map[string]*secret.Secret{"nil": nil, "empty": secret.Of(""), "empty before": secret.New("", nil, secret.Old{Until: soon})} {
		if s.Set() || s.Matches("") || s.Matches("x") || len(s.Valid()) > 0 || s.Current() != "" {
			t.Errorf("%s: %q", name, s.Valid())
		}
	}
}
