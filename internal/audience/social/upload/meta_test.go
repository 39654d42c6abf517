package upload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/resume"
)

func TestMetaSplitsTagsAndKeepsNoFolders(t *testing.T) {
	pairs := map[string]string{"tags": "طرب، قديم ,,  live", "filename": `C:\Music/../../أغنية.mp3`, "rights": "1", "title": "x"}
	got, err := metaOf(pairs, 7)
	if diff := cmp.Diff(Meta{Title: "x", Tags: []string{"طرب", "قديم", "live"}, Filename: "أغنية.mp3", Rights: true, Size: 7}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for what, pairs := range map[string]map[string]string{"rights": {"rights": "yes"}, "tags": {"tags": strings.Repeat("a,", 21)}} {
		if _, err := metaOf(pairs, 1); err == nil || !strings.HasPrefix(err.Error(), what+": ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The bound of the header leaves room for all that the values may be.
func TestTheLongestValuesFitInArabic(t *testing.T) {
	pairs := map[string]string{}
	for _, key := range keys() {
		pairs[key.Name] = strings.Repeat("ص", key.Longest)
	}
	if header := metadata(pairs); len(header) > resume.LongestMetadata {
		t.Errorf("%d bytes", len(header))
	}
}

func FuzzMeta(f *testing.F) {
	f.Add("طرب، قديم", "../../x.mp3", "true")
	f.Add(",,،", `a\b/c`, "")
	f.Fuzz(func(t *testing.T, tags, name, rights string) {
		m, err := metaOf(map[string]string{"tags": tags, "filename": name, "rights": rights}, 1)
		if err != nil {
			return
		}
		if strings.ContainsAny(m.Filename, `/\`) {
			t.Errorf("%+v", m)
		}
		for _, tag := range m.Tags {
			if strings.TrimSpace(tag) == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
