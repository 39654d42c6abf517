package record

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// However many recordings there are, and whatever their titles: each page fits, and all of
// them together are the list.
func TestPagesHaveEveryRecordingOnce(t *testing.T) {
	var all []Recording
	for i := range 500 {
		all = append(all, Recording{
			Name: fmt.Sprintf("LIVE_20260301-100000_x-%d.mp3", i), Began: int64(i / 3), // some began at once
			Title: strings.Repeat("<", mostTitle), Presenter: strings.Repeat("\u2028", mostCreator/3),
		})
	}
	slices.SortFunc(all, newestFirst)
	const most = 40_000
	var got []Recording
	asked := url.Values{"most": {strconv.Itoa(most)}}
	for {
		text := page(slices.Clone(all), asked)
		var some []Recording
		if err := json.Unmarshal(text, &some); err != nil || len(text) > most {
			t.Fatalf("a page of %d bytes: %v", len(text), err)
		}
		if len(some) == 0 {
			break
		}
		got = append(got, some...)
		if len(got) > len(all) {
			break
		}
		last := some[len(some)-1]
		asked.Set("name", last.Name)
		asked.Set("began", strconv.FormatInt(last.Began, 10))
	}
	if !slices.EqualFunc(got, all, func(a, b Recording) bool { return a.Name == b.Name }) {
		t.Errorf("%d of %d recordings, or in another order", len(got), len(all))
	}
	var whole []Recording
	if err := json.Unmarshal(page(slices.Clone(all), url.Values{}), &whole); err != nil || len(whole) != len(all) {
		t.Errorf("without a bound: %d, %v", len(whole), err)
	}
	if text := page(nil, url.Values{}); string(text) != "[]" {
		t.Errorf("of none: %s", text)
	}
	if text := page(all[:1], url.Values{"most": {"1"}}); len(text) < 10 {
		t.Errorf("one that is longer than a page: %s", text)
	}
}
