package source

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/station"
)

// FuzzWhatAFeedOrTheArchiveSaysIsClean holds every candidate made of bytes from
// outside to what Candidate promises.
func FuzzWhatAFeedOrTheArchiveSaysIsClean(f *testing.F) {
	for _, s := range []string{
		`<rss version="2.0"><channel><title>a&#x202e;b</title><item><title>c</title><guid>1</guid><enclosure url="//x/a.mp3" length="-1" type="audio/mpeg"/></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link rel="enclosure" href="a.ogg" type="audio/ogg"/><link rel="license" href="x"/></entry></feed>`,
		`<?xml version="1.0" encoding="windows-1256"?><rss version="2.0"><channel><item><title>` + "\xc7\xe1" + `</title><enclosure url="a.mp3"/></item><item>`,
		`<rss><channel><item><itunes:duration>1:2:3:4</itunes:duration><media:group><media:content url="a.mp3" type="audio/x" duration="1e9"/></media:group></item></channel></rss>`,
		`{"metadata":{"title":["a",1,null,{}],"licenseurl":"https://creativecommons.org/licenses/by/4.0/"},"files":[{"name":"a\u0000.mp3"},{"name":"a.mp3","length":"9:9:9","size":"-5"},{"name":["b.flac"],"original":"a.mp3","source":"derivative"}]}`,
		`{"is_dark":1,"files":[{"name":"../x.mp3"}]}`, `[]`, "\x00",
	} {
		f.Add([]byte(s))
	}
	a := &Archive{Licenses: []string{"any"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := parseFeed(fetch.Document{Body: body, URL: "https://example.org/feed"}, Feed{URL: "https://example.org/feed", Category: station.English})
		if err != nil && len(found) > 0 {
			t.Fatal(err)
		}
		var item archiveItemRecord
		if json.Unmarshal(body, &item) == nil && item.open() {
			found = append(found, a.candidates("item", item, Want{Category: station.English})...)
		}
		for _, c := range found {
			for _, s := range []string{c.Title, c.Artist, c.Album, c.Genre, c.License, c.Licensor} {
				if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.ContainsAny(s, "\u202e\u2066\u2028") {
					t.Fatalf("%q in %+v", s, c)
				}
			}
			if c.ID == "" || len(c.ID) > 1024 || c.URL == "" || c.Size < 0 || c.Duration < 0 || c.Duration > 101*time.Hour {
				t.Fatalf("%+v", c)
			}
			if c.Page != "" && !address(c.Page) {
				t.Fatalf("page %q", c.Page)
			}
		}
	})
}
