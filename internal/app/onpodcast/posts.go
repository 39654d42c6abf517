package onpodcast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

// platform is what listeners have sent: social.Social.
type platform interface {
	List(ctx context.Context, q social.Query) (social.Page, error)
	Brief(ctx context.Context, id int64) (social.Post, error)
	Path(file string) string
}

// posts are those that are approved.
type posts struct{ platform }

// pageOfPosts is how many are listed at a time.
const pageOfPosts = 200

// Offers implements podcast.Origin.
func (p posts) Offers(ctx context.Context) ([]podcast.Raw, error) {
	var out []podcast.Raw
	q := social.Query{Status: social.Approved, Sort: social.ByNew, Limit: pageOfPosts}
	for {
		page, err := p.List(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("list posts: %w: %w", err, station.ErrUnavailable)
		}
		for i := range page.Posts {
			out = append(out, rawOfPost(&page.Posts[i]))
		}
		if q.Cursor = page.Next; q.Cursor == "" || ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
}

func rawOfPost(p *social.Post) podcast.Raw {
	return podcast.Raw{
		Source: podcast.Source{Kind: podcast.Posts, Key: strconv.FormatInt(p.ID, 10)}, Type: string(p.Type), Title: p.Title, Summary: p.Description,
		Artist: cmp.Or(strings.TrimSpace(p.Artist), p.CreatedBy), Creator: p.CreatedBy, Began: time.UnixMilli(p.Approved), Duration: p.Duration, Listeners: -1,
	}
}

// find is a post that everybody may hear.
func (p posts) find(ctx context.Context, key string) (social.Post, error) {
	id, err := strconv.ParseInt(key, 10, 64)
	if err != nil || id <= 0 || strconv.FormatInt(id, 10) != key {
		return social.Post{}, fmt.Errorf("post %.40q: %w", key, station.ErrNotFound)
	}
	post, err := p.Brief(ctx, id)
	switch {
	case errors.Is(err, station.ErrNotFound):
		return social.Post{}, err
	case err != nil:
		return social.Post{}, fmt.Errorf("%w: %w", err, station.ErrUnavailable)
	case !post.Visible() || post.File == "":
		return post, fmt.Errorf("post %s is not approved: %w", key, station.ErrNotFound)
	}
	return post, nil
}

// Find implements podcast.Origin.
func (p posts) Find(ctx context.Context, key string) (podcast.Raw, error) {
	post, err := p.find(ctx, key)
	return rawOfPost(&post), err
}

// Fetch implements podcast.Origin.
func (p posts) Fetch(ctx context.Context, key, to string) error {
	post, err := p.find(ctx, key)
	if err != nil {
		return err
	}
	err = copyFile(ctx, "post", key, p.Path(post.File), to)
	if errors.Is(err, os.ErrNotExist) { // approved, so its file comes back with the media
		return fmt.Errorf("the file of post %s is not there: %w", key, station.ErrUnavailable)
	}
	return err
}

// Standing implements podcast.Origin. A post that reports or a moderator have put before moderators
// again is not rejected yet.
func (p posts) Standing(ctx context.Context, key string) (podcast.Standing, error) {
	post, err := p.find(ctx, key)
	switch {
	case err == nil:
		return podcast.Free, nil
	case errors.Is(err, station.ErrUnavailable):
		return "", err
	case post.ID == 0 || post.Status == social.Rejected:
		return podcast.Withdrawn, nil
	}
	return podcast.Withheld, nil
}
