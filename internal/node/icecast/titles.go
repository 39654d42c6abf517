package icecast

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A mount in MP3 or AAC has its title from a question to the administrator; the sound holds
// none. A source that connects anew begins without.

// maxTitle is the most of a title in bytes: the protocol has room for 4,080, with the quotes.
const maxTitle = 1024

// titlesEvery is how often it is looked whether the mounts have the title.
const titlesEvery = 5 * time.Second

// Titles keeps the title on the mounts beside the main one.
type Titles struct {
	Log     *slog.Logger
	Client  *http.Client
	Options func() Options // the server may move to another machine
	// Title returns what plays now: "Artist - Title".
	Title func() string
	// Changed is received from when that may be another.
	Changed <-chan struct{}

	shown map[string]shown
}

// shown is what a mount was told.
type shown struct {
	title   string
	started string // since when it has its source
}

// Run tells the mounts until ctx ends.
func (t *Titles) Run(ctx context.Context) error {
	if len(t.Options().Beside) == 0 {
		return nil
	}
	t.shown = map[string]shown{}
	clock := time.NewTicker(titlesEvery)
	defer clock.Stop()
	title, trouble := "", ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.Changed:
			if t.Title() == title {
				continue
			}
		case <-clock.C:
		}
		title = t.Title()
		within, cancel := context.WithTimeout(ctx, titlesEvery)
		err := t.tell(within, title)
		cancel()
		if err == nil {
			trouble = ""
		} else if ctx.Err() == nil && err.Error() != trouble {
			trouble = err.Error()
			t.Log.Warn("cannot show the title on a mount of the streaming server, retrying", "err", err)
		}
	}
}

// tell shows the title on each mount that has a source and another title.
func (t *Titles) tell(ctx context.Context, title string) error {
	o := t.Options()
	status, err := ReadStatus(ctx, t.Client, o)
	if err != nil {
		return err
	}
	for _, b := range o.Beside {
		source, fed := status.Source(o.Path(b))
		now := shown{title, source.Started}
		if !fed || t.shown[b.Format] == now && source.Title != "" {
			continue
		}
		if err := setTitle(ctx, t.Client, o, o.Path(b), title); err != nil {
			return err
		}
		t.shown[b.Format] = now
	}
	return nil
}

// setTitle shows a title on a mount.
func setTitle(ctx context.Context, client *http.Client, o Options, mount, title string) error {
	query := url.Values{"mount": {mount}, "mode": {"updinfo"}, "charset": {"UTF-8"}, "song": {titleText(title)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address()+"/admin/metadata?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("show the title on %s: %w", mount, err)
	}
	if _, err := asAdmin(client, req, o, maxStatus); err != nil {
		return fmt.Errorf("show the title on %s: %w", mount, err)
	}
	return nil
}

// titleText makes text from outside fit for a title: valid UTF-8 on one line. A quote would end
// it in many players, and the protocol has no escape, so it becomes an apostrophe (U+2019).
// Icecast takes an empty one for none.
func titleText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\'':
			return '’'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	for len(s) > maxTitle {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	return cmp.Or(strings.TrimSpace(s), "-")
}
