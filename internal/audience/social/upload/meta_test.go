package upload

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

func TestMetadataIsReadOrRefusedByName(t *testing.T) {
	for header, want := range map[string]string{
		"":                              "",
		"title":                         "",
		"type c29uZw==, title 2YTZitmE": "",
		"filetype YXVkaW8vbXBlZw==":     "",
		"titel eA==":                    `unknown key "titel"`,
		" ":                             "",
		",":                             "unknown key",
		"title eA==,title eQ==":         "title stands there twice",
		"title eA==,title":              "title stands there twice",
		"title %%%":                     "the value of title must be base64",
		"title eA== eA==":               "the value of title must be base64",
		"title /w==":                    "title: must be UTF-8",
		"title AA==":                    "title: must have no control characters",
		"title " + "eHh4" + strings.Repeat("eHh4", 66): "title: has 201 characters, 200 are allowed",
		"description " + strings.Repeat("eHh4", 3000):  "Upload-Metadata: has",
		"description eAp5": "",
		"title eAp5":       "title: must have no control characters",
	} {
		_, err := parsePairs(header)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, station.ErrInvalid)) {
			t.Errorf("%.40q: %v, want %q", header, err, want)
		}
	}
}

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

// longestMetadata leaves room for all that the values may be.
func TestTheLongestValuesFitInArabic(t *testing.T) {
	pairs := map[string]string{}
	for key := range strings.SplitSeq(knownKeys, ", ") {
		n, known := longest(key)
		if !known {
			t.Errorf("%s is named as known", key)
		}
		pairs[key] = strings.Repeat("ص", n)
	}
	if got, err := parsePairs(metadata(pairs)); err != nil || !maps.Equal(got, pairs) {
		t.Error(err)
	}
}

func TestMetadataComesBackAsItWasSent(t *testing.T) {
	keys := strings.Split(knownKeys, ", ")
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.MapOfN(rapid.SampledFrom(keys), rapid.StringOfN(rapid.RuneFrom([]rune("abcصض،, =+/🎵")), 0, 8, -1), 0, 8).Draw(t, "pairs")
		if got, err := parsePairs(metadata(pairs)); err != nil || !maps.Equal(got, pairs) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add("type c29uZw==,title 2YTZitmE,rights dHJ1ZQ==")
	f.Add("title ,title")
	f.Add("tags 2Iws,filename Li4vLi4v")
	f.Fuzz(func(t *testing.T, header string) {
		pairs, err := parsePairs(header)
		if err != nil {
			if !errors.Is(err, station.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		for key, value := range pairs {
			n, known := longest(key)
			if !known || !utf8.ValidString(value) || utf8.RuneCountInString(value) > max(n, 0) || strings.ContainsRune(value, 0) {
				t.Errorf("%q: %q", key, value)
			}
		}
		m, err := metaOf(pairs, 1)
		if err == nil && (strings.ContainsAny(m.Filename, `/\`) || slices.Contains(m.Tags, "")) {
			t.Errorf("%+v", m)
		}
	})
}
