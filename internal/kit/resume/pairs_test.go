package resume

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

func TestMetadataIsReadOrRefusedByName(t *testing.T) {
	k := newKeys(testKeys())
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
		_, err := k.parsePairs(header)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, station.ErrInvalid)) {
			t.Errorf("%.40q: %v, want %q", header, err, want)
		}
	}
}

func TestMetadataComesBackAsItWasSent(t *testing.T) {
	k, names := newKeys(testKeys()), strings.Split(knownKeys, ", ")
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.MapOfN(rapid.SampledFrom(names), rapid.StringOfN(rapid.RuneFrom([]rune("abcصض،, =+/🎵")), 0, 8, -1), 0, len(names)).Draw(t, "pairs")
		if got, err := k.parsePairs(metadata(pairs)); err != nil || !maps.Equal(got, pairs) {
			t.Fatalf("%v, %v", got, err)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add("type c29uZw==,title 2YTZitmE,rights dHJ1ZQ==")
	f.Add("title ,title")
	f.Add("description 2Iws,filetype Li4vLi4v")
	k := newKeys(testKeys())
	f.Fuzz(func(t *testing.T, header string) {
		pairs, err := k.parsePairs(header)
		if err != nil {
			if !errors.Is(err, station.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		for name, value := range pairs {
			key, known := k.all[name]
			if !known || !utf8.ValidString(value) || utf8.RuneCountInString(value) > key.Longest || strings.ContainsRune(value, 0) {
				t.Errorf("%q: %q", name, value)
			}
		}
	})
}
