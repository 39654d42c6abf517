package webpush

import (
	"slices"
	"testing"
)

// Each kind of alarm has words of its own, raised, in both languages.
func TestEachProblemHasItsOwnWords(t *testing.T) {
	var seen []string
	for _, problem := range []string{"", "silence", "frozen", "gone", "starved", "unreachable", "playlist", "emergency", "database"} {
		for _, lang := range []string{"ar", "en"} {
			_, said := words(&Notice{Topic: Alert, Problem: problem}, lang, "أثير")
			if slices.Contains(seen, said) {
				t.Errorf("%q has no words of its own in %s: %q", problem, lang, said)
			}
			seen = append(seen, said)
		}
	}
	// A link that is back says nothing about the sound, which may never have stopped.
	_, said := words(&Notice{Topic: Alert, Problem: "unreachable", Cleared: true}, "en", "Athir")
	_, sounds := words(&Notice{Topic: Alert, Problem: "silence", Cleared: true}, "en", "Athir")
	if said == sounds {
		t.Errorf("a node that answers again is told as %q", said)
	}
}
