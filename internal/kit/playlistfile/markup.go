package playlistfile

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// deepest bounds how elements of XSPF lie in each other; the standard's own lie four deep.
const deepest = 16

// xspf reads XML. Entities are not declared, so that there is none that grows.
func (l *list) xspf(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var where []string
	var e Entry
	var said strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(where) == 0 && l.known {
			return nil
		}
		if err != nil {
			line, _ := d.InputPos()
			return fmt.Errorf("line %d: %w: %w", line, err, ErrDamaged)
		}
		switch t := token.(type) {
		case xml.Directive:
			return fmt.Errorf("it has a document type, which XSPF has not: %w", ErrDamaged)
		case xml.StartElement:
			if where = append(where, t.Name.Local); len(where) > deepest {
				return fmt.Errorf("its elements lie more than %d deep: %w", deepest, ErrDamaged)
			}
			said.Reset()
			switch strings.Join(where, "/") {
			case "playlist":
				l.known = true
			case "playlist/trackList/track":
				e = Entry{}
			}
			if !l.known {
				return fmt.Errorf("its first element is <%.20s>, not <playlist>: %w", t.Name.Local, ErrFormat)
			}
		case xml.CharData:
			if said.Write(t); said.Len() > MostText && kept(where) {
				return fmt.Errorf("a text has more than %d bytes: %w", MostText, ErrLarge)
			}
		case xml.EndElement:
			if err := l.element(strings.Join(where, "/"), strings.TrimSpace(said.String()), &e); err != nil {
				return err
			}
			where = where[:len(where)-1]
			said.Reset()
		}
	}
}

// kept reports whether the text of an element matters.
func kept(where []string) bool {
	return len(where) == 2 || len(where) == 4
}

// element keeps what one says, at its end.
func (l *list) element(where, said string, e *Entry) error {
	switch where {
	case "playlist/title":
		l.Title = said
	case "playlist/trackList/track":
		return l.add(*e)
	case "playlist/trackList/track/location":
		if e.Location == "" { // others are the same track elsewhere
			e.Location = said
		}
	case "playlist/trackList/track/title":
		e.Title = said
	case "playlist/trackList/track/creator":
		e.Creator = said
	case "playlist/trackList/track/album":
		e.Album = said
	case "playlist/trackList/track/duration":
		e.Duration = milliseconds(said)
	}
	return nil
}

func milliseconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f <= float64(mostLength.Milliseconds())) { //nolint:staticcheck // false for NaN
		return 0
	}
	return time.Duration(f) * time.Millisecond
}

// jsonTrack is a track of JSPF.
type jsonTrack struct {
	Location []string `json:"location"`
	Title    string   `json:"title,omitempty"`
	Creator  string   `json:"creator,omitempty"`
	Album    string   `json:"album,omitempty"`
	Duration int64    `json:"duration"` // milliseconds
}

// places is a location of JSPF: a list, or as some write it one text.
type places []string

// UnmarshalJSON takes both.
func (p *places) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*p = places{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(p))
}

func (l *list) jspf(text string) error {
	var file struct {
		Playlist *struct {
			Title string `json:"title"`
			Track []struct {
				Location places      `json:"location"`
				Title    string      `json:"title"`
				Creator  string      `json:"creator"`
				Album    string      `json:"album"`
				Duration json.Number `json:"duration"`
			} `json:"track"`
		} `json:"playlist"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	if file.Playlist == nil {
		return fmt.Errorf(`it has no "playlist": %w`, ErrFormat)
	}
	l.Title = file.Playlist.Title
	for _, t := range file.Playlist.Track {
		e := Entry{Title: t.Title, Creator: t.Creator, Album: t.Album, Duration: milliseconds(t.Duration.String())}
		if len(t.Location) > 0 {
			e.Location = t.Location[0]
		}
		for _, s := range []string{e.Location, e.Title, e.Creator, e.Album} {
			if len(s) > MostText {
				return fmt.Errorf("a text has more than %d bytes: %w", MostText, ErrLarge)
			}
		}
		if err := l.add(e); err != nil {
			return err
		}
	}
	return nil
}
