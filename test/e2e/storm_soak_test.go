//go:build soak

package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/sound/wav"
)

const (
	// postsVar is how many posts are sent, 1000.
	postsVar = "ATHIR_POSTS"
	// killEvery is the time from one kill of the control plane to the next.
	killEvery = 20 * time.Second
	// mostResident bounds the control plane's memory, in MiB. Of what is sent at once there
	// is several times as much.
	mostResident = 400
)

// posting is one submission, and what has to become of it.
type posting struct {
	kind string
	body []byte
	typ  string
	// reason is why it is to be rejected; empty where it is fit.
	reason string
	id     int64 // of the post, once it was taken
}

// A thousand posts at once, half of them hostile, while the control plane is killed every
// twenty seconds: each that was taken is in the end pending, rejected for its own reason or
// to be tried again; no file is without its row, nor a row without its file; nothing of
// what is sent is kept in memory; and the air goes on.
func TestSoakAThousandPostsWhileTheControlPlaneIsKilled(t *testing.T) {
	n := number(t, postsVar, 1000)
	s := newStation(t, withKeys, func(s *station) {
		s.env = append(s.env, "SOCIAL_ADMIN_KEY="+moderatorKey, "ATHIR_SOCIAL_ADDRESS_PER_HOUR=10000", "ATHIR_SOCIAL_PER_HOUR=1000",
			"ATHIR_SOCIAL_PER_DAY=10000", "ATHIR_SOCIAL_WAITING=10000", "ATHIR_SOCIAL_QUEUE=100000")
	})
	s.program = released(t)
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 8, 20 * time.Second}, {"music/english", 8, 14, 20 * time.Second}})
	s.start().whole()

	all := submissions(n)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var kills atomic.Int64
	var most atomic.Int64
	var beside sync.WaitGroup
	beside.Go(func() { s.killsControl(ctx, &kills) })
	beside.Go(func() { s.watchesMemory(ctx, &most) })

	began := time.Now()
	var hands sync.WaitGroup
	var tries atomic.Int64
	for i := range all {
		hands.Go(func() { s.send(ctx, &all[i], i, &tries) })
	}
	hands.Wait()
	t.Logf("%d posts were taken in %s and %d requests", n, time.Since(began).Round(time.Second), tries.Load())

	db := s.database()
	defer db.Close() //nolint:errcheck // only read
	for deadline := time.Now().Add(time.Hour); ; {
		var open int
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM social_posts WHERE status = 'processing'`).Scan(&open)
		if err == nil && open == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after an hour %d posts wait still: %v", open, err)
		}
		time.Sleep(time.Second)
	}
	t.Logf("all had their end after %s and %d kills; at most %d MiB of the control plane were resident", time.Since(began).Round(time.Second), kills.Load(), most.Load())
	cancel()
	beside.Wait()
	s.eventually("the control plane is back", func() bool { _, err := s.process("control"); return err == nil })

	if most.Load() > mostResident {
		t.Errorf("the control plane had %d MiB, at most %d are expected", most.Load(), mostResident)
	}
	s.judgeOutcomes(db, all)
	s.judgeFiles(db)
}

// submissions are n posts of every kind, in an order of their own.
func submissions(n int) []posting {
	dice := rand.New(rand.NewPCG(1, 2))
	large := bytes.Repeat([]byte("not a sound at all. "), 1<<20) // 20 MiB
	hostile := []func(i int) posting{
		func(int) posting {
			return posting{kind: "playlist", typ: "jingles", reason: "playlist", body: []byte("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:1/secret.ts\n#EXT-X-ENDLIST\n")}
		},
		func(int) posting {
			return posting{kind: "page", typ: "song", reason: "not_audio", body: []byte("<!doctype html><script>alert(1)</script>")}
		},
		func(i int) posting {
			return posting{kind: "silence", typ: "voice", reason: "silent", body: wav.PCM16(44100, 1, make([]int16, 44100*5+i))}
		},
		func(i int) posting {
			return posting{kind: "steady tone", typ: "jingles", reason: "noise", body: melody(dice, 1, 9)}
		},
		func(int) posting {
			return posting{kind: "too long", typ: "sweepers", reason: "too_long", body: melody(dice, 30, 1)}
		},
		func(int) posting {
			return posting{kind: "too short", typ: "song", reason: "too_short", body: melody(dice, 8, 0.5)}
		},
		func(int) posting { return posting{kind: "large", typ: "mashup", reason: "not_audio", body: large} },
		func(int) posting {
			b := melody(dice, 12, 0.5)
			return posting{kind: "cut", typ: "jingles", reason: "truncated", body: b[:len(b)/2]}
		},
	}
	types := []string{"jingles", "sweepers", "voice"}
	var out []posting
	for i := range n {
		switch {
		case i%2 == 0:
			out = append(out, posting{kind: "melody", typ: types[i/2%len(types)], body: melody(dice, 14, 0.5)})
		case i/2%len(hostile) == 6 && i > 160: // a few large ones are enough for any memory
			out = append(out, hostile[1](i))
		default:
			out = append(out, hostile[i/2%len(hostile)](i))
		}
	}
	dice.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// melody is a tune of so many notes of so many seconds each, like no other.
func melody(dice *rand.Rand, notes int, seconds float64) []byte {
	const rate = 22050
	each := int(seconds * rate)
	samples := make([]int16, 0, notes*each)
	for range notes {
		hz := 110 * math.Pow(2, float64(dice.IntN(36))/12)
		bright := 0.2 + 0.6*dice.Float64()
		for i := range each {
			at := float64(i) / rate
			v := 0.0
			for h := 1; h <= 4; h++ {
				v += math.Pow(bright, float64(h)) * math.Sin(2*math.Pi*hz*float64(h)*at)
			}
			fade := math.Min(1, math.Min(at, seconds-at)*50)
			samples = append(samples, wav.Quantize(0.3*v*fade))
		}
	}
	return wav.PCM16(rate, 1, samples)
}

// killsControl kills the control plane at any instant, until ctx ends.
func (s *station) killsControl(ctx context.Context, kills *atomic.Int64) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(killEvery):
		}
		if p, err := s.process("control"); err == nil && syscall.Kill(p.PID, syscall.SIGKILL) == nil {
			kills.Add(1)
		}
	}
}

// watchesMemory keeps the most that the control plane had resident, in MiB.
func (s *station) watchesMemory(ctx context.Context, most *atomic.Int64) {
	for ctx.Err() == nil {
		for _, p := range s.tree() {
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
			if !bytes.Contains(args, []byte("\x00control\x00")) {
				continue
			}
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
			for line := range strings.Lines(string(text)) {
				if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
					n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 10, 64)
					most.Store(max(most.Load(), n>>10))
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// send sends one post by one of three ways, again and again until it is taken.
func (s *station) send(ctx context.Context, p *posting, i int, tries *atomic.Int64) {
	way := []func(context.Context, *posting, string) (int64, time.Duration, error){s.sendRaw, s.sendBase64, s.sendTus}[i%3]
	if len(p.body) > 1<<20 && i%3 == 1 {
		way = s.sendRaw
	}
	for ctx.Err() == nil {
		tries.Add(1)
		id, wait, err := way(ctx, p, fmt.Sprintf("storm-of-posts-%06d", i))
		if err == nil {
			p.id = id
			return
		}
		if errors.Is(err, errRefused) {
			s.t.Errorf("post %d, %s: %v", i, p.kind, err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(wait, time.Duration(200+rand.IntN(800))*time.Millisecond)):
		}
	}
}

var errRefused = errors.New("refused at the door")

// ask sends one request as the device of a submission.
func (s *station) ask(ctx context.Context, method, path, key string, header http.Header, body []byte) (*http.Response, []byte, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url("control", path), bytes.NewReader(body))
	if err != nil {
		return nil, nil, 0, err
	}
	req.Header = header
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("X-Athir-Device", "device-"+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, text)
		if code := resp.StatusCode; code != 429 && code != 423 && code != 409 && code < 500 {
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return resp, text, time.Duration(seconds) * time.Second, err
}

func taken(text []byte) (id int64, err error) {
	var out struct{ Post struct{ ID int64 } }
	if err := json.Unmarshal(text, &out); err != nil || out.Post.ID == 0 {
		return 0, fmt.Errorf("no post in %.200s: %w", text, err)
	}
	return out.Post.ID, nil
}

func (s *station) sendRaw(ctx context.Context, p *posting, key string) (int64, time.Duration, error) {
	_, text, wait, err := s.ask(ctx, "POST", "/api/social/upload/"+p.typ+"?title=storm+"+key+"&artist=crowd&rights=true", key, http.Header{"Content-Type": {"application/octet-stream"}}, p.body)
	if err != nil {
		return 0, wait, err
	}
	id, err := taken(text)
	return id, 0, err
}

func (s *station) sendBase64(ctx context.Context, p *posting, key string) (int64, time.Duration, error) {
	body, err := json.Marshal(map[string]any{"type": p.typ, "title": "storm " + key, "artist": "crowd", "rights": true, "base64": base64.StdEncoding.EncodeToString(p.body)})
	if err != nil {
		return 0, 0, err
	}
	_, text, wait, err := s.ask(ctx, "POST", "/api/social/posts", key, http.Header{"Content-Type": {"application/json"}}, body)
	if err != nil {
		return 0, wait, err
	}
	id, err := taken(text)
	return id, 0, err
}

// sendTus makes an upload, or finds that of an earlier try, and sends what is missing.
func (s *station) sendTus(ctx context.Context, p *posting, key string) (int64, time.Duration, error) {
	meta := func(name, value string) string { return name + " " + base64.StdEncoding.EncodeToString([]byte(value)) }
	made, _, wait, err := s.ask(ctx, "POST", "/api/social/tus/", key, http.Header{
		"Tus-Resumable": {"1.0.0"}, "Upload-Length": {strconv.Itoa(len(p.body))},
		"Upload-Metadata": {strings.Join([]string{meta("type", p.typ), meta("title", "storm "+key), meta("artist", "crowd"), meta("rights", "true")}, ",")},
	}, nil)
	if err != nil {
		return 0, wait, err
	}
	at := made.Header.Get("Location")
	head, _, wait, err := s.ask(ctx, "HEAD", at, key, http.Header{"Tus-Resumable": {"1.0.0"}}, nil)
	if err != nil {
		return 0, wait, err
	}
	offset, err := strconv.Atoi(head.Header.Get("Upload-Offset"))
	if err != nil {
		return 0, 0, err
	}
	if head.Header.Get("X-Post-Id") == "" {
		head, _, wait, err = s.ask(ctx, "PATCH", at, key, http.Header{
			"Tus-Resumable": {"1.0.0"}, "Content-Type": {"application/offset+octet-stream"}, "Upload-Offset": {strconv.Itoa(offset)},
		}, p.body[offset:])
		if err != nil {
			return 0, wait, err
		}
	}
	id, err := strconv.ParseInt(head.Header.Get("X-Post-Id"), 10, 64)
	return id, 0, err
}

// judgeOutcomes compares what became of every post with what should have.
func (s *station) judgeOutcomes(db *sql.DB, all []posting) {
	s.t.Helper()
	kinds := map[string]map[string]int{}
	seen := map[int64]bool{}
	for i, p := range all {
		if p.id == 0 {
			continue // told already
		}
		if seen[p.id] {
			s.t.Errorf("post %d stands for two submissions", p.id)
		}
		seen[p.id] = true
		var status, reason, title string
		var next int64
		var passed int
		err := db.QueryRowContext(s.t.Context(), `SELECT status, reason, title, next_try, (SELECT count(*) FROM social_history WHERE post = p.id AND action = 'pass')
			FROM social_posts p WHERE id = ?`, p.id).Scan(&status, &reason, &title, &next, &passed)
		if err != nil {
			s.t.Errorf("post %d was acknowledged and is lost: %v", p.id, err)
			continue
		}
		if want := fmt.Sprintf("storm storm-of-posts-%06d", i); title != want {
			s.t.Errorf("post %d is %q, want %q", p.id, title, want)
		}
		outcome := strings.TrimSpace(status + " " + reason)
		if kinds[p.kind] == nil {
			kinds[p.kind] = map[string]int{}
		}
		kinds[p.kind][outcome]++
		want := "pending"
		if p.reason != "" {
			want = "rejected " + p.reason
		}
		if retriable := status == "failed" && next > 0; outcome != want && !retriable {
			s.t.Errorf("post %d, %s: %s, want %s", p.id, p.kind, outcome, want)
		}
		if status == "pending" && passed != 1 {
			s.t.Errorf("post %d passed %d times", p.id, passed)
		}
	}
	var rows int
	if err := db.QueryRowContext(s.t.Context(), `SELECT count(*) FROM social_posts`).Scan(&rows); err != nil || rows != len(all) {
		s.t.Errorf("there are %d posts of %d submissions: %v", rows, len(all), err)
	}
	for kind, outcomes := range kinds {
		s.t.Logf("%-12s %v", kind, outcomes)
	}
}

// judgeFiles finds files without a row, and rows without their file.
func (s *station) judgeFiles(db *sql.DB) {
	s.t.Helper()
	known := map[string]int64{} // by path relative to the data
	add := func(query, dir string) {
		rows, err := db.QueryContext(s.t.Context(), query)
		if err != nil {
			s.t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			var name string
			var bytes int64
			if err := rows.Scan(&name, &bytes); err != nil {
				s.t.Fatal(err)
			}
			known[filepath.Join(dir, name)] = bytes
		}
		if err := rows.Err(); err != nil {
			s.t.Fatal(err)
		}
	}
	add(`SELECT file, bytes FROM social_posts WHERE file <> ''`, filepath.Join(s.data, "posts"))
	add(`SELECT source, source_size FROM social_posts WHERE source <> ''`, filepath.Join(s.data, "social", "incoming"))
	for path, size := range known {
		if info, err := os.Stat(path); err != nil || info.Size() != size {
			s.t.Errorf("a row names %s of %d bytes: %v", path, size, err)
		}
	}
	files := 0
	for _, dir := range []string{"posts", "social/incoming", "social/lost"} {
		err := filepath.WalkDir(filepath.Join(s.data, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if files++; known[path] == 0 {
				s.t.Errorf("no row names %s", path)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Error(err)
		}
	}
	s.t.Logf("%d files, each of them a row's", files)
}
