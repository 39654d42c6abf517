package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

const adminKey = "open-posts"

// onPosts is the air of the platform: nothing airs.
type onPosts struct{ signal.Changes }

func (*onPosts) Plays(context.Context) (map[string]social.Airing, error) {
	return map[string]social.Airing{}, nil
}
func (*onPosts) InUse(string) bool { return false }

// platform opens posts that nothing processes.
func (r *rig) platform(t *testing.T, limits social.Limits) *social.Social {
	t.Helper()
	return r.platformWith(t, limits, 0)
}

// platformWith is platform where so many votes approve music.
func (r *rig) platformWith(t *testing.T, limits social.Limits, approveVotes int) *social.Social {
	t.Helper()
	dir := t.TempDir()
	s, err := social.Open(t.Context(), social.Options{
		Log: r.log, DB: r.db, Now: time.Now, Dir: filepath.Join(dir, "social"), Media: filepath.Join(dir, "media"),
		Master: mastering.New(mastering.Options{}), Profile: func(station.Category) (mastering.Profile, error) { return mastering.Named(mastering.Station) },
		Fetch: fetch.New(fetch.Options{Version: "test"}), Air: &onPosts{}, Words: check.Words{
			Blocked: func(text string) bool { return strings.Contains(text, "badword") }, Linked: func(text string) bool { return strings.Contains(text, "://") },
		}, Tell: func(string, any) {}, Rights: "mine", Reports: 2, ApproveVotes: approveVotes,
		Keep: time.Hour, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (r *rig) openSocial(t *testing.T) *api.Social {
	t.Helper()
	r.posts = &api.Social{
		Posts: r.platform(t, social.Limits{Bytes: 1 << 20}), Uploads: http.NotFoundHandler(), Sync: func(context.Context) (bool, error) { return true, r.fail }, Every: func() int { return 3 },
		AdminKey: adminKey, Rights: api.Rights{En: "mine", Ar: "لي"}, Limits: social.Limits{PerHour: 5, Bytes: 1 << 20},
	}
	return r.posts
}

// planted is a post of a status with a file, and its secret.
func (r *rig) planted(t *testing.T, title string, status social.Status) social.Receipt {
	t.Helper()
	got, err := r.posts.Posts.Submit(t.Context(), social.Client{Address: "203.0.113.7", Device: "device-of-" + title}, social.Draft{Type: social.Voice, Title: title, Rights: true, CreatedBy: "نور"}, "upload", -1, bytes.NewReader([]byte("sound")))
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("social/voice/SOC_%d_x.mp3", got.ID)
	path := r.posts.Posts.Path(file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mastered "+title), 0o600); err != nil {
		t.Fatal(err)
	}
	r.exec(t, `UPDATE social_posts SET status = ?, file = ?, bytes = 9, duration = 6000, approved = CASE WHEN ? = 'approved' THEN created ELSE 0 END WHERE id = ?`, status, file, status, got.ID)
	if err := r.posts.Posts.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got
}

// candidate is music that waits, with a file and a cover, and nothing that speaks against it.
func (r *rig) candidate(t *testing.T, title string) social.Receipt {
	t.Helper()
	got := r.planted(t, title, social.Pending)
	r.exec(t, `UPDATE social_posts SET type = 'song', plain = 1, cover = 'image/png' WHERE id = ?`, got.ID)
	p, err := r.posts.Posts.Get(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.posts.Posts.CoverPath(&p), []byte("a picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *rig) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), query, args...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// exampleSubmitter is the submitter that the manual speaks of.
const exampleSubmitter = "5f0c91aa5f0c91aa5f0c91aa5f0c91aa"

// examplePosts are the seven posts that the manual speaks of; it returns the submitter of one.
func (r *rig) examplePosts(t *testing.T) string {
	t.Helper()
	for n := range 7 {
		status := social.Approved
		if n >= 5 {
			status = social.Pending
		}
		r.planted(t, fmt.Sprint("post ", n+1), status)
	}
	r.alike(t, 7, "music/english/3.mp3")
	p, err := r.posts.Posts.Get(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	return p.Submitter
}

// alike makes a post sound like a track of the library, which airs mastered.
func (r *rig) alike(t *testing.T, id int64, rel string) {
	t.Helper()
	r.exec(t, `UPDATE social_posts SET alike = ? WHERE id = ?`, fmt.Sprintf(`[{"file":%q,"title":"x","artist":"y","difference":0.1}]`, rel), id)
	path := filepath.Join(r.mastered(), rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("the track that airs"), 0o600); err != nil {
		t.Fatal(err)
	}
}
