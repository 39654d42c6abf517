package intake

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

const manual = "../../../docs/library.md"

// The manual's sentences are those of the code, for a jingle of 4:07.
func TestTheManualHasEveryReasonWithItsWords(t *testing.T) {
	got := testkit.DocTable(t, manual, "## Reasons")
	for i, code := range Codes() {
		w := (&Refusal{Code: code, Limit: Limits{}.defaults().Size, Found: 247 * time.Second, Category: station.Jingles}).Words()
		want := []string{"`" + string(code) + "`", w.En, w.Ar}
		if i >= len(got) || !slices.Equal(got[i], want) {
			t.Errorf("row %d is not | %s |", i+1, strings.Join(want, " | "))
		}
	}
	if len(got) > len(Codes()) {
		t.Errorf("%d rows of no code", len(got)-len(Codes()))
	}
}

func TestTheManualStatesTheLimits(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	l, u := Limits{}.defaults(), resume.Limits{}.Defaults()
	for _, words := range []string{
		fmt.Sprintf("| one file | %d GiB |", l.Size>>30), fmt.Sprintf("| %d files or %d GiB |", l.Arrivals, l.Bytes>>30),
		fmt.Sprintf("| %d GiB, or 5 %% of a smaller disk |", l.Reserve>>30), fmt.Sprintf("| %.0f days |", l.Age.Hours()/24),
		fmt.Sprintf("| %.0f hours after its last byte |", u.Expire.Hours()), fmt.Sprintf("| %.0f hours |", l.KeepTaken.Hours()),
	} {
		if !strings.Contains(string(text), words) {
			t.Errorf("the manual does not say %q", words)
		}
	}
}
