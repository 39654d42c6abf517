package api

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// The embedded player's size in pixels, and the height of the small one.
const (
	embedWide, embedHigh = 600, 140
	embedShallow         = 80

	embedPath, historyPath = "/embed", "/history"
)

type oembedInput struct {
	URL       string `query:"url" required:"true" minLength:"1" maxLength:"2000" doc:"An address of this station: its page, its history, a track's or the embedded player's"`
	Format    string `query:"format" enum:"json" doc:"XML is not answered"`
	MaxWidth  int    `query:"maxwidth" minimum:"1" maximum:"100000" doc:"Pixels"`
	MaxHeight int    `query:"maxheight" minimum:"1" maximum:"100000" doc:"Pixels"`

	origin string
}

// Resolve notes under which address the station was asked.
func (in *oembedInput) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	in.origin = client.Origin(r)
	return nil
}

// OEmbed is an answer by https://oembed.com, 2.3.4.
type OEmbed struct {
	Version      string `json:"version" enum:"1.0"`
	Type         string `json:"type" enum:"rich"`
	Title        string `json:"title"`
	ProviderName string `json:"provider_name"`
	ProviderURL  string `json:"provider_url"`
	CacheAge     int    `json:"cache_age" doc:"Seconds"`
	HTML         string `json:"html" doc:"The player in a frame"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
}

type oembedAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         OEmbed
}

func (s *Server) oembed(ctx context.Context, in *oembedInput) (*oembedAnswer, error) {
	title, compact, err := s.embeds(ctx, in.URL, in.origin)
	if err != nil {
		return nil, err
	}
	width, height := embedWide, embedHigh
	if in.MaxWidth > 0 {
		width = min(width, in.MaxWidth)
	}
	if compact || in.MaxHeight > 0 && in.MaxHeight < embedHigh {
		height, compact = embedShallow, true
	}
	if in.MaxHeight > 0 {
		height = min(height, in.MaxHeight)
	}
	src := in.origin + embedPath
	if compact {
		src += "?compact=1"
	}
	out := &oembedAnswer{CacheControl: "public, max-age=300"}
	out.Body = OEmbed{
		Version: "1.0", Type: "rich", Title: title, ProviderName: s.name(), ProviderURL: in.origin + "/", CacheAge: 300, Width: width, Height: height,
		HTML: fmt.Sprintf(`<iframe src="%s" title="%s" width="%d" height="%d" style="border:0;max-width:100%%" allow="autoplay" loading="lazy"></iframe>`,
			html.EscapeString(src), html.EscapeString(s.name()), width, height),
	}
	return out, nil
}

// embeds returns the title of what an address of the station shows, and whether it is the
// small player. Errors: station.ErrNotFound, also for every address that is not the station's.
func (s *Server) embeds(ctx context.Context, address, origin string) (title string, compact bool, err error) {
	none := fmt.Errorf("an address of this station with a player: %w", station.ErrNotFound)
	own, err := url.Parse(origin)
	if err != nil {
		return "", false, none
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, own.Host) || u.User != nil {
		return "", false, none
	}
	if id, is := strings.CutPrefix(u.Path, "/track/"); is {
		t, _, err := s.addressed(ctx, id)
		if err != nil {
			return "", false, err
		}
		return strings.Join(nonempty(t.Title, t.Artist), " · "), false, nil
	}
	switch u.Path {
	case "", "/", historyPath:
		return s.name(), false, nil
	case embedPath:
		return s.name(), u.Query().Get("compact") == "1", nil
	}
	return "", false, none
}

func nonempty(texts ...string) (out []string) {
	for _, text := range texts {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}
