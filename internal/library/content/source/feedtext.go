package source

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
)

const (
	// feedDepth bounds how deep a feed's elements nest, for a parser that calls
	// itself. Unclosed <br> in descriptions add up, so it is generous.
	feedDepth = 20_000
	// feedItems bounds the items read of one feed.
	feedItems = 2000
	// feedHead bounds what stands before the first item of a damaged feed.
	feedHead = 64 << 10
)

var (
	declaredCharset = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)
	firstItem       = regexp.MustCompile(`<(item|entry)[\s>]`)
)

// parseXML reads a feed, and of a damaged one the items that can be read.
func parseXML(body []byte, contentType string) (*gofeed.Feed, error) {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	body = readable(body, contentType)
	if !bytes.HasPrefix(body, []byte("<")) {
		return nil, errors.New("this is no feed")
	}
	if deep(body) {
		return nil, errors.New("the feed's elements nest too deep")
	}
	feed, err := parse(body)
	if err == nil {
		return feed, nil
	}
	if saved := salvage(body); saved != nil {
		return saved, nil
	}
	if errors.Is(err, gofeed.ErrFeedTypeNotDetected) {
		err = errors.New("this is no feed")
	}
	return nil, err
}

// parse also turns a panic of the parser, which hostile bytes may cause, into an
// error: a feed must not stop the station.
func parse(body []byte) (_ *gofeed.Feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the feed parser failed: %v", p)
		}
	}()
	p := gofeed.NewParser()
	p.KeepOriginalFeed = true // Atom's licence links are only there
	p.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	return p.Parse(bytes.NewReader(body))
}

// readable makes sure that the bytes are what the feed, or else the server, says
// they are. Feeds that say nothing, and are no UTF-8, are old Arabic ones.
func readable(body []byte, contentType string) []byte {
	label := ""
	if m := declaredCharset.FindSubmatch(body[:min(len(body), 1024)]); m != nil {
		label = strings.ToLower(string(m[1]))
	} else if _, p, err := mime.ParseMediaType(contentType); err == nil && p["charset"] != "" {
		if r, err := charset.NewReaderLabel(p["charset"], bytes.NewReader(body)); err == nil {
			if converted, err := io.ReadAll(r); err == nil {
				return converted
			}
		}
	}
	switch {
	case label != "" && label != "utf-8" && label != "utf8" || utf8.Valid(body):
		return body // the parser converts it
	case label == "":
		if converted, err := charmap.Windows1256.NewDecoder().Bytes(body); err == nil {
			return converted
		}
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD"))
}

func deep(body []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	for depth := 0; depth <= feedDepth; {
		token, err := d.RawToken()
		if err != nil {
			return false // the parser stops here as well
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return true
}

// salvage reads a damaged feed item by item: what stands before the first one,
// one item, and the end that belongs to it.
func salvage(body []byte) *gofeed.Feed {
	at := firstItem.FindSubmatchIndex(body)
	if at == nil || at[0] > feedHead {
		return nil
	}
	head, name := body[:at[0]], string(body[at[2]:at[3]])
	end, foot := []byte("</"+name+">"), "</channel></rss>"
	if name == "entry" {
		foot = "</feed>"
	}
	var all *gofeed.Feed
	rest := body[at[0]:]
	for tries := 0; tries < feedItems; tries++ {
		stop := bytes.Index(rest, end)
		if stop < 0 {
			break
		}
		item := rest[:stop+len(end)]
		rest = rest[len(item):]
		one, err := parse(bytes.Join([][]byte{head, item, []byte(foot)}, nil))
		if err != nil {
			continue
		}
		if all == nil {
			all = one
		} else {
			all.Items = append(all.Items, one.Items...)
		}
	}
	return all
}
