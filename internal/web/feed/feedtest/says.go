package feedtest

import (
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	language = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)
	uuid5    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	duration = regexp.MustCompile(`^([0-9]+|([0-9]{1,3}:)?[0-5]?[0-9]:[0-5][0-9])$`)
	markup   = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	isoDate  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
)

// some is a text that is there, on one line, of so many bytes at most, and no markup.
func some(most int) func(*Element) error {
	return func(e *Element) error {
		switch text := e.Text; {
		case strings.TrimSpace(text) == "":
			return errors.New("it is empty")
		case strings.TrimSpace(text) != text || strings.Contains(text, "\n"):
			return fmt.Errorf("space around it, or lines: %.40q", text)
		case len(text) > most:
			return fmt.Errorf("%d bytes, of %d", len(text), most)
		}
		return nil
	}
}

// plain is a text of so many bytes at most.
func plain(most int) func(*Element) error {
	return func(e *Element) error {
		if strings.TrimSpace(e.Text) == "" || len(e.Text) > most {
			return fmt.Errorf("%d bytes of 1 to %d", len(e.Text), most)
		}
		return nil
	}
}

// notes are HTML, and no scripts.
func notes(e *Element) error {
	for _, tag := range markup.FindAllString(e.Text, -1) {
		if !slices.Contains([]string{"<p>", "</p>", "<br/>", "<ul>", "</ul>", "<ol>", "</ol>", "<li>", "</li>"}, tag) {
			return fmt.Errorf("the element %.40q is not for notes", tag)
		}
	}
	return nil
}

func oneOf(words ...string) func(*Element) error {
	return func(e *Element) error {
		if !slices.Contains(words, e.Text) {
			return fmt.Errorf("%.40q is none of %s", e.Text, strings.Join(words, ", "))
		}
		return nil
	}
}

func matches(what string, form *regexp.Regexp) func(*Element) error {
	return func(e *Element) error {
		if !form.MatchString(e.Text) {
			return fmt.Errorf("%.60q is no %s", e.Text, what)
		}
		return nil
	}
}

// positive is a whole number above zero (Apple: a non-zero integer).
func positive(e *Element) error {
	if n, err := strconv.Atoi(e.Text); err != nil || n < 1 {
		return fmt.Errorf("%.20q is no number above zero", e.Text)
	}
	return nil
}

// date is one by RFC 822 with a year of four digits, as RFC 2822 has it (RSS 2.0; Apple).
func date(e *Element) error {
	if strings.Contains(e.Text, "UTC") {
		return fmt.Errorf("%q: no zone of RFC 2822", e.Text)
	}
	at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 -0700", e.Text)
	if err != nil {
		return fmt.Errorf("%.60q is no date by RFC 2822", e.Text)
	}
	if at.Year() < 1990 {
		return fmt.Errorf("%s is before there were any", e.Text)
	}
	return nil
}

// address is a whole address, in the form in which it is asked for.
func address(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%.80q is no address", text)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%.80q is no whole address of the web", text)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"{}|\\^`", r) }):
		return fmt.Errorf("%.80q holds what an address may not", text)
	}
	return nil
}

func link(e *Element) error { return address(e.Text) }

func attribute(name string, says func(string) error) func(*Element) error {
	return func(e *Element) error {
		value, has := e.Attr[name]
		if !has {
			return fmt.Errorf("%s is missing", name)
		}
		return says(value)
	}
}

func both(checks ...func(*Element) error) func(*Element) error {
	return func(e *Element) error {
		for _, check := range checks {
			if err := check(e); err != nil {
				return err
			}
		}
		return nil
	}
}

func word(words ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%.40q is none of %s", text, strings.Join(words, ", "))
		}
		return nil
	}
}

// picture is an address of a JPEG or PNG: Apple goes by the ending.
func picture(text string) error {
	if err := address(text); err != nil {
		return err
	}
	u, _ := url.Parse(text)
	if ending := path.Ext(u.Path); ending != ".jpg" && ending != ".png" {
		return fmt.Errorf("%.80q ends neither with .jpg nor with .png", text)
	}
	return nil
}

func email(e *Element) error {
	if a, err := mail.ParseAddress(e.Text); err != nil || a.Address != e.Text {
		return fmt.Errorf("%.60q is no address of mail", e.Text)
	}
	return nil
}

// enclosure is the sound: all three attributes, an ending that is of its type (Apple), and a length
// where that is known.
func enclosure(live bool) func(*Element) error {
	kind, ending := "audio/mpeg", ".mp3"
	if live {
		kind, ending = "application/x-mpegURL", ".m3u8"
	}
	return both(
		attribute("url", func(text string) error {
			if u, err := url.Parse(text); err == nil && path.Ext(u.Path) != ending {
				return fmt.Errorf("%.80q does not end with %s", text, ending)
			}
			return address(text)
		}),
		attribute("type", word(kind)),
		attribute("length", func(text string) error {
			if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 || n == 0 && !live {
				return fmt.Errorf("%.20q is no length", text)
			}
			return nil
		}),
	)
}

// person is who takes part: of 128 characters at most; role and group of the taxonomy, in small letters.
func person(e *Element) error {
	if err := some(512)(e); err != nil {
		return err
	}
	if len([]rune(e.Text)) > 128 {
		return fmt.Errorf("%d characters, of 128", len([]rune(e.Text)))
	}
	if role, has := e.Attr["role"]; has && !slices.Contains([]string{"host", "guest", "co-host", "author", "narrator", "reporter"}, role) {
		return fmt.Errorf("the role %.20q is not of the taxonomy", role)
	}
	if group, has := e.Attr["group"]; has && group != "cast" && group != "writing" {
		return fmt.Errorf("the group %.20q is not of the taxonomy", group)
	}
	return nil
}
