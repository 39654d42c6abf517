package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// child is the other process: it refreshes the station in dir beside a rotation
// that keeps turning, until a refresh finds nothing more to do.
func child(dir string) int {
	ctx := context.Background()
	boot, _ := strconv.Atoi(os.Getenv("ATHIR_CONTENT_BOOT"))
	media := filepath.Join(dir, "media")
	db, err := store.Open(ctx, filepath.Join(dir, "athir.db"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	air := &onAir{root: media, state: filepath.Join(dir, "rotation.json"), rand: rand.New(rand.NewPCG(uint64(boot), 7))}
	var saved struct {
		Rotation []string
		At       int
		Last     string
	}
	if text, err := os.ReadFile(air.state); err == nil && json.Unmarshal(text, &saved) == nil {
		air.rotation, air.at, air.last = saved.Rotation, saved.At, saved.Last
	}
	feed := &lister{name: source.NameFeed, files: map[string]string{}}
	for i := range 60 {
		feed.files[fmt.Sprintf("ads/%02d", i)] = fmt.Sprintf("length 10 of the feed %02d", i)
	}
	c, err := Open(ctx, db, Options{
		Media: media, Archive: filepath.Join(dir, "archive"), Work: filepath.Join(dir, "work"),
		Registry: air, OnAir: air, Master: stampMaster{}, Prints: bytePrints{media}, Log: slog.New(slog.DiscardHandler),
		Sources: []source.Source{&source.Inbox{Dir: filepath.Join(dir, "inbox"), Quiet: -1}, feed},
		Imaging: &sweepers{root: media, air: air, boot: boot}, Keep: map[station.Category]int{station.Ads: 15},
		ArchiveMaxBytes: 200_000,
		Free:            func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
		// A day goes by with each start: what was fetched may leave.
		Now: func() time.Time { return time.Now().Add(time.Duration(boot) * 48 * time.Hour) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c.hear = func(ctx context.Context, path string, longest time.Duration, hold wait) (heard, error) {
		if strings.HasSuffix(path, ".wav") { // real sound, really listened to
			return listen(ctx, path, longest, hold)
		}
		return quickEar(ctx, path, longest, hold)
	}
	air.hidden = c.Hidden
	if err := errors.Join(c.Recover(ctx), air.Scan(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(air.rotation) == 0 {
		_ = air.Rebuild(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			air.turn()
			time.Sleep(2 * time.Millisecond)
			if n%10 == 0 {
				_ = air.Rebuild(ctx)
			}
		}
	})
	fmt.Println("ready")
	for {
		res, err := c.Refresh(ctx, Request{Ads: 16, Restore: boot%7 == 3}, func(Progress) { _, _ = os.Stdout.WriteString(".") })
		if err != nil || len(res.Problems) > 0 {
			fmt.Fprintln(os.Stderr, err, res.Problems)
			return 1
		}
		added, refused := 0, 0
		for _, n := range res.Categories {
			added, refused = added+n.Added, refused+n.Refused
		}
		if dangling := air.look(); len(dangling) > 0 {
			fmt.Fprintln(os.Stderr, "paths without a file were planned:", dangling)
			return 1
		}
		if added+refused == 0 && os.Getenv("ATHIR_CONTENT_LAST") != "" {
			break
		}
	}
	cancel()
	wg.Wait()
	if err := db.Close(); err != nil {
		return 1
	}
	return 0
}

// sweepers is imaging that makes four files a time.
type sweepers struct {
	root string
	air  *onAir
	boot int
	n    int
}

func (s *sweepers) Old(context.Context) ([]string, error) {
	var out []string
	for _, p := range walk(s.root) {
		if strings.HasPrefix(p, "sweepers/SWP_") {
			out = append(out, p)
		}
	}
	return out, nil
}

func (s *sweepers) Make(_ context.Context, _ func(context.Context) error, progress func(done, total int, detail string)) (int, []error, error) {
	for i := range 4 {
		s.n++
		progress(i, 4, "")
		name := fmt.Sprintf("sweepers/SWP_VOX_%d_%d_%d.mp3", s.boot, os.Getpid(), s.n)
		full := filepath.Join(s.root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full+".part", []byte("mastered \n"+name+stampEnd), 0o600), os.Rename(full+".part", full)); err != nil {
			return i, nil, err
		}
	}
	return 4, nil, nil
}

// inputs fills the inbox with n files and returns how often each sum is in it.
func inputs(t *testing.T, inbox string, n int) map[string]int {
	t.Helper()
	sums := map[string]int{}
	put := func(rel string, data []byte) {
		full := filepath.Join(inbox, rel)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		sums[sumOf(data)]++
	}
	sounds := t.TempDir()
	for i := range 6 { // some that a real decoder hears: speech, tones, silence
		wav := filepath.Join(sounds, fmt.Sprintf("%d.wav", i))
		args := []string{"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("sine=f=%d:d=6:r=16000", 200+100*i), wav}
		if i == 5 {
			args = []string{"-v", "error", "-f", "lavfi", "-i", "anullsrc=r=16000", "-t", "6", wav}
		}
		cmd := exec.Command("ffmpeg", args...)
		if i < 2 {
			cmd = exec.Command("espeak-ng", "-v", "ar", "-w", wav, fmt.Sprintf("هنا إذاعة أثير من القاهرة رقم %d، نتمنى لكم وقتا طيبا معنا", i))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		data, err := os.ReadFile(wav)
		if err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprintf("shorts/real %d.wav", i), data)
	}
	folders := []string{"arabic_hits", "english", "mashups", "jingles", "ads", ""}
	for i := len(sums); i < n; i++ {
		text := fmt.Sprintf("track %d", i)
		folder := folders[i%len(folders)]
		switch {
		case i%23 == 0:
			text = fmt.Sprintf("broken %d", i)
		case i%29 == 0:
			text = fmt.Sprintf("silent %d", i)
		case i%31 == 0:
			text = fmt.Sprintf("unfit %d", i)
		case i%37 == 0:
			text = "the same recording"
		case folder == "jingles" || folder == "ads":
			text += " length 10"
		}
		put(filepath.Join(folder, fmt.Sprintf("فنان - أغنية %d.mp3", i)), []byte(text))
	}
	return sums
}

// TestKilledRefreshLosesNothing kills a refresh at random points, many times, and
// looks at what is left each time.
func TestKilledRefreshLosesNothing(t *testing.T) { killedRefresh(t, 40, 2) }

// killedRefresh takes in so many files and goes on killing until the inbox has
// been empty for so many kills.
func killedRefresh(t *testing.T, files, enough int) {
	t.Helper()
	dir := t.TempDir()
	sums := inputs(t, filepath.Join(dir, "inbox"), files)
	for i := range 80 { // what plays meanwhile
		rel := filepath.Join(dir, "media", fmt.Sprintf("music/english/own %02d.mp3", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(rel), 0o750), os.WriteFile(rel, []byte("mastered \n"+rel+stampEnd), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	killed, after := 0, 0 // after: with the inbox empty, when archiving is most of the work
	cut := map[string]int{}
	for boot := 0; ; boot++ {
		last := after >= enough || killed > 100
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "ATHIR_CONTENT_CHILD="+dir, "ATHIR_CONTENT_BOOT="+strconv.Itoa(boot))
		if last {
			cmd.Env = append(cmd.Env, "ATHIR_CONTENT_LAST=1")
		}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !last { // the child gives a sign at each step: so many, and a little while
			_, _ = io.CopyN(io.Discard, out, int64(len("ready\n")+random.IntN(36)))
			time.Sleep(time.Duration(random.IntN(8000)) * time.Microsecond)
			_ = cmd.Process.Kill()
		}
		_, _ = io.Copy(io.Discard, out)
		if err = cmd.Wait(); err == nil && last {
			break
		}
		if err != nil && err.Error() != "signal: killed" {
			t.Fatalf("the child ended by itself: %v: %s", err, stderr.String())
		}
		killed++
		intact(t, dir)
		cutOff(t, dir, cut)
		if waiting := walk(filepath.Join(dir, "inbox")); !slices.ContainsFunc(waiting, func(p string) bool { return !strings.HasPrefix(p, "rejected/") }) {
			after++
		}
	}
	t.Logf("killed %d times, %d of them after the inbox; rows cut off by their state: %v", killed, after, cut)
	intact(t, dir)
	settledOnce(t, dir, sums)
}

// cutOff counts the rows that a kill has left halfway.
func cutOff(t *testing.T, dir string, cut map[string]int) {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	rows, err := db.QueryContext(t.Context(), "SELECT state FROM content_archive WHERE state IN ('retiring', 'restoring', 'purging') UNION ALL SELECT state FROM content_item WHERE state = 'placing' OR settled = 0 AND state <> 'failed'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // test
	for rows.Next() {
		var state string
		if err := rows.Scan(&state); err != nil {
			t.Fatal(err)
		}
		cut[state]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// intact looks at the files alone: what is planned is there, and nothing half is
// where a scan would find it.
func intact(t *testing.T, dir string) {
	t.Helper()
	var saved struct {
		Rotation []string
		At       int
		Last     string
	}
	text, err := os.ReadFile(filepath.Join(dir, "rotation.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	planned := saved.Rotation[saved.At:]
	if saved.Last != "" {
		planned = append(planned, saved.Last)
	}
	for _, p := range planned {
		if !exists(filepath.Join(dir, "media", p)) {
			t.Fatalf("%s is on air or planned, and not there", p)
		}
	}
	for _, folder := range []string{"media", "archive"} {
		for _, p := range walk(filepath.Join(dir, folder)) {
			data, _ := os.ReadFile(filepath.Join(dir, folder, p))
			if !strings.HasSuffix(p, ".part") && !strings.HasSuffix(string(data), stampEnd) {
				t.Fatalf("%s in %s is half a file", p, folder)
			}
		}
	}
}

// settledOnce accounts for every file of the inbox: in the library once, refused
// with a text beside it, or waiting still; and for every file of the archive.
func settledOnce(t *testing.T, dir string, sums map[string]int) {
	t.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(dir, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	found := map[string]int{}
	made := map[string][]string{}
	for _, folder := range []string{"media", "archive"} {
		for _, p := range walk(filepath.Join(dir, folder)) {
			if sum := madeOf(filepath.Join(dir, folder, p)); sums[sum] > 0 {
				found[sum]++
				made[sum] = append(made[sum], folder+"/"+p)
			}
		}
	}
	for sum, places := range made {
		if len(places) > 1 {
			t.Errorf("one file of the inbox was placed as %q (%s)", places, sum[:8])
		}
	}
	inbox := filepath.Join(dir, "inbox")
	for _, p := range walk(inbox) {
		data, _ := os.ReadFile(filepath.Join(inbox, p))
		if sums[sumOf(data)] == 0 {
			continue // a text
		}
		found[sumOf(data)]++
		if !strings.HasPrefix(p, "rejected/") {
			t.Errorf("%s still waits", p)
		} else if note, _ := os.ReadFile(filepath.Join(inbox, p+".txt")); len(note) < 40 {
			t.Errorf("%s was refused without a word", p)
		}
	}
	for sum, n := range sums {
		if found[sum] != n {
			t.Errorf("%d of %d files of sum %s are accounted for: %q", found[sum], n, sum[:8], made[sum])
		}
	}
	c := &Content{db: db, now: time.Now}
	all, err := c.entries(ctx, "1")
	if err != nil {
		t.Fatal(err)
	}
	states, there := map[string]int{}, map[string]bool{}
	for _, e := range all {
		states[e.state]++
		if e.state == archived {
			there[e.keptAs] = true
			if !exists(filepath.Join(dir, "archive", e.keptAs)) || exists(filepath.Join(dir, "media", e.path)) {
				t.Errorf("%s is not where the journal says", e.path)
			}
		}
	}
	for _, p := range walk(filepath.Join(dir, "archive")) {
		if !there[p] {
			t.Errorf("the archive holds %s, of which the journal knows nothing", p)
		}
	}
	if states[retiring]+states[restoring]+states[purging] > 0 || states[archived] == 0 {
		t.Errorf("the journal's states: %v", states)
	}
	for _, hiddenFile := range unfinished(t, dir) {
		t.Errorf("left behind: %s", hiddenFile)
	}
	t.Logf("journal %v, %d placed, %d files in all", states, len(made), len(sums))
}

func unfinished(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, folder := range []string{"media", "archive", "work"} {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasPrefix(d.Name(), ".athir") || folder == "work") {
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}
