package onbackup_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// station is a data directory with something of everything in it.
func station(t testing.TB) *config.Config {
	t.Helper()
	dir := t.TempDir()
	cfg, _, err := config.Load(config.Source{DataDir: dir})
	must(t, err)
	for name, text := range state() {
		write(t, filepath.Join(dir, name), text)
	}
	db, err := migrated()
	must(t, err)
	write(t, cfg.Database(), string(db))
	return cfg
}

// migrated is a database with all tables and one comment, made once: its many commits take
// their time.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "athir-onbackup-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a test's own
	db, err := store.Open(context.Background(), filepath.Join(dir, "athir.db"))
	if err != nil {
		return nil, err
	}
	for _, s := range onbackup.Schemas() {
		err = errors.Join(err, db.Upgrade(context.Background(), s))
	}
	if err = errors.Join(err, comment(db, "before"), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(db.Path())
})

// state are the files of a station that are state, by name in the data directory.
func state() map[string]string {
	return map[string]string{
		"station.json": `{"MOOD":""}`, "headlines.txt": "خبر\n", "chat/media/ab/cd/abcd": "voice", "social/covers/1": "cover", "covers/ab-640.jpg": "picture",
		"media/social/voice/SOC_1_a.mp3": "a post", "mastered/a.mp3": "a copy", "recordings/a.mp3": "a show", "archive/a.mp3": "old",
		"podcasts/morning/aaaaaaaaaaaaaaaa-00000000.mp3": "an episode",
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
}

func comment(db *store.DB, text string) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`CREATE TABLE IF NOT EXISTS said (text TEXT)`)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO said VALUES (?)`, text)
		}
		return err
	})
}

func sqlIn(db *store.DB, statement string) error {
	return db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
}

func everything() onbackup.Choice {
	return onbackup.Choice{Mastered: true, Recordings: true, Archive: true}
}

func backup(t testing.TB, cfg *config.Config, c onbackup.Choice) string {
	t.Helper()
	r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Version: "test", Why: onbackup.ByHand, Choice: c, To: t.TempDir()})
	must(t, err)
	return r.File
}

func restore(t testing.TB, file, data string, change ...func(*onbackup.Restoring)) (onbackup.Plan, error) {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	r := onbackup.Restoring{Data: data, From: f, Confirm: func(onbackup.Plan) error { return nil }}
	for _, c := range change {
		c(&r)
	}
	return onbackup.Restore(t.Context(), r)
}

// said are the rows of the database in a data directory.
func said(t testing.TB, data string) (out []string) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(data, "athir.db"))
	must(t, err)
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.Read().Query(`SELECT text FROM said`)
	must(t, err)
	defer rows.Close() //nolint:errcheck // only read
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		out = append(out, s)
	}
	must(t, rows.Err())
	return out
}

func holds(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if want == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

// A whole station moves into an empty folder: what a copy of athir.db alone loses is named.
func TestAStationMovesHouse(t *testing.T) {
	cfg := station(t)
	file := backup(t, cfg, everything())
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 || !strings.HasPrefix(filepath.Base(file), "athir-أثير-") {
		t.Errorf("%s: %v, %v", file, info.Mode(), err)
	}
	data := filepath.Join(t.TempDir(), "new")
	plan, err := restore(t, file, data)
	must(t, err)
	if !plan.Done || len(plan.Rows) != 12 {
		t.Errorf("%d parts: %+v", len(plan.Rows), plan)
	}
	if got := said(t, data); len(got) != 1 || got[0] != "before" {
		t.Errorf("the database says %v", got)
	}
	for name, text := range state() {
		holds(t, filepath.Join(data, name), text)
	}
	old, err := os.ReadFile(cfg.File())
	must(t, err)
	holds(t, filepath.Join(data, "athir.yaml"), string(old))
	t.Logf("a copy of athir.db alone would lose %d files: settings with every key, %d others", 1+len(state()), len(state()))
}

// An episode that is being made is in no backup.
func TestWhatIsInTheMakingIsInNoBackup(t *testing.T) {
	data, cfg := t.TempDir(), station(t)
	write(t, filepath.Join(cfg.PodcastsDir(), ".making/a.raw"), "half a show")
	write(t, filepath.Join(cfg.PodcastsDir(), ".aside/b.mp3"), "of no episode")
	_, err := restore(t, backup(t, cfg, everything()), data)
	must(t, err)
	holds(t, filepath.Join(data, "podcasts/.making/a.raw"), "")
	holds(t, filepath.Join(data, "podcasts/.aside/b.mp3"), "")
	holds(t, filepath.Join(data, "podcasts/morning/aaaaaaaaaaaaaaaa-00000000.mp3"), "an episode")
}

// Without a word of it, what can be made again is not in a backup.
func TestCopiesAreInABackupByChoice(t *testing.T) {
	data, cfg := t.TempDir(), station(t)
	write(t, filepath.Join(cfg.DataDir, "imports/uploads/b.zip"), "of another system")
	_, err := restore(t, backup(t, cfg, onbackup.Choice{}), data)
	must(t, err)
	holds(t, filepath.Join(data, "imports/uploads/b.zip"), "")
	for name, text := range state() {
		if strings.HasPrefix(name, "mastered") || strings.HasPrefix(name, "recordings") || strings.HasPrefix(name, "podcasts") || strings.HasPrefix(name, "archive") {
			text = ""
		}
		holds(t, filepath.Join(data, name), text)
	}
}

func TestARestoreKeepsWhatWasThereAndRemovesTheOldLog(t *testing.T) {
	cfg := station(t)
	file := backup(t, cfg, everything())
	// As kill -9 leaves it: rows in the log only.
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	must(t, comment(db, "after"))
	log, err := os.ReadFile(cfg.Database() + "-wal")
	must(t, err)
	must(t, db.Close())
	write(t, cfg.Database()+"-wal", string(log))
	write(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "later")
	write(t, filepath.Join(cfg.DataDir, "handover.json"), "events of this database")

	asked := false
	plan, err := restore(t, file, cfg.DataDir, func(r *onbackup.Restoring) {
		r.DryRun = true
		r.Confirm = func(onbackup.Plan) error { asked = true; return nil }
	})
	if err != nil || plan.Done || !asked {
		t.Errorf("a dry run: %+v, %v", plan, err)
	}
	holds(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "later")
	no := errors.New("no")
	if _, err := restore(t, file, cfg.DataDir, func(r *onbackup.Restoring) { r.Confirm = func(onbackup.Plan) error { return no } }); !errors.Is(err, no) {
		t.Errorf("not confirmed: %v", err)
	}
	holds(t, cfg.Database()+"-wal", string(log))

	plan, err = restore(t, file, cfg.DataDir)
	must(t, err)
	if got := said(t, cfg.DataDir); len(got) != 1 {
		t.Errorf("the database says %v", got)
	}
	holds(t, filepath.Join(cfg.DataDir, "chat/media/ab/cd/later"), "")
	holds(t, filepath.Join(plan.Undo, "chat/media/ab/cd/later"), "later")
	holds(t, filepath.Join(cfg.DataDir, "handover.json"), "")
	if got := said(t, plan.Undo); len(got) != 2 {
		t.Errorf("what was there is kept as %v", got)
	}
	for _, left := range []string{".restore-*", ".backup", "restore.json"} {
		if names, _ := filepath.Glob(filepath.Join(cfg.DataDir, left)); len(names) > 0 {
			t.Errorf("left %v", names)
		}
	}
}

func TestNothingIsPutUnderALiveStation(t *testing.T) {
	cfg := station(t)
	file := backup(t, cfg, onbackup.Choice{})
	node, err := lock.Acquire(cfg.NodeDir(), "node")
	must(t, err)
	if _, err := restore(t, file, cfg.DataDir); !errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), "--control") {
		t.Errorf("the node runs: %v", err)
	}
	control, err := lock.Acquire(cfg.NodeDir(), "control")
	must(t, err)
	if _, err := restore(t, file, cfg.DataDir, func(r *onbackup.Restoring) { r.Control = true }); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("the control plane runs: %v", err)
	}
	control.Release()

	// The control plane is away: what it alone uses is put back, and nothing is taken from
	// under the engine.
	write(t, cfg.Database(), "damaged")
	write(t, filepath.Join(cfg.DataDir, "media/social/voice/SOC_2_a.mp3"), "on the air")
	must(t, os.Remove(filepath.Join(cfg.DataDir, "media/social/voice/SOC_1_a.mp3")))
	write(t, cfg.File(), "name: changed\nstation_key: k\nsource_password: 123456789\nsync_token: s\n")
	_, err = restore(t, file, cfg.DataDir, func(r *onbackup.Restoring) { r.Control = true })
	must(t, err)
	if got := said(t, cfg.DataDir); len(got) != 1 {
		t.Errorf("the database says %v", got)
	}
	holds(t, filepath.Join(cfg.DataDir, "media/social/voice/SOC_2_a.mp3"), "on the air")
	holds(t, filepath.Join(cfg.DataDir, "media/social/voice/SOC_1_a.mp3"), "a post")
	if text, err := os.ReadFile(cfg.File()); err != nil || !strings.HasPrefix(string(text), "name: changed") {
		t.Errorf("the settings of a running node: %q, %v", text, err)
	}
	node.Release()
}

// A station's database that is damaged is not copied over its backups.
func TestADamagedStationIsNoBackup(t *testing.T) {
	cfg := station(t)
	text, err := os.ReadFile(cfg.Database())
	must(t, err)
	for i := len(text) / 2; i < len(text)/2+20000; i++ {
		text[i] = 0xee
	}
	must(t, os.WriteFile(cfg.Database(), text, 0o600))
	to := t.TempDir()
	if _, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, To: to}); !errors.Is(err, store.ErrNotDatabase) {
		t.Errorf("%v", err)
	}
	cfg = station(t)
	write(t, cfg.StationFile(), `{"MOOD":`)
	if _, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, To: to}); err == nil || !strings.Contains(err.Error(), "station.json") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(to); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A backup that was cut, or comes from a later program, changes nothing.
func TestABackupThatDoesNotVerifyChangesNothing(t *testing.T) {
	cfg := station(t)
	text, err := os.ReadFile(backup(t, cfg, onbackup.Choice{}))
	must(t, err)
	cut := filepath.Join(t.TempDir(), "cut.tar.zst")
	must(t, os.WriteFile(cut, text[:len(text)-100], 0o600))
	if _, err := restore(t, cut, cfg.DataDir); !errors.Is(err, archive.ErrDamaged) || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("%v", err)
	}
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	must(t, db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO migrations_chat (version_id, is_applied) VALUES (999, 1)`)
		return err
	}))
	must(t, db.Close())
	later := backup(t, cfg, onbackup.Choice{})
	if _, err := restore(t, later, t.TempDir()); !errors.Is(err, archive.ErrNewer) {
		t.Errorf("%v", err)
	}
}

// A stream is verified while it passes, and reads as the file does.
func TestABackupIsStreamed(t *testing.T) {
	cfg := station(t)
	var out bytes.Buffer
	r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Out: &out})
	must(t, err)
	if r.Bytes != int64(out.Len()) || r.File != "" {
		t.Errorf("%+v of %d bytes", r, out.Len())
	}
	file := filepath.Join(t.TempDir(), "streamed")
	must(t, os.WriteFile(file, out.Bytes(), 0o600))
	data := t.TempDir()
	_, err = restore(t, file, data)
	must(t, err)
	holds(t, filepath.Join(data, "headlines.txt"), "خبر\n")
	if _, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Out: closed{}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("to a reader that went away: %v", err)
	}
}

// A folder whose disk is away is not made on this one.
func TestABackupMakesNoPathOfFolders(t *testing.T) {
	cfg := station(t)
	disk := t.TempDir()
	for _, to := range []string{disk, filepath.Join(disk, "backups")} {
		if r, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, To: to}); err != nil || filepath.Dir(r.File) != to {
			t.Errorf("%+v, %v", r, err)
		}
	}
	file := filepath.Join(disk, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for to, want := range map[string]string{filepath.Join(disk, "away", "backups"): filepath.Join(disk, "away") + " is missing: mount its disk", file: file + " is no folder"} {
		if _, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, To: to}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	if _, err := os.Stat(filepath.Join(disk, "away")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestADiskWithoutRoomIsLeftAlone(t *testing.T) { testkit.InOwnMounts(t, smallDiskEnv) }

func onASmallDisk(dir string) error {
	if err := testkit.SmallDisk(dir, 2048); err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "athir-onbackup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data) //nolint:errcheck // a test's own
	cfg, _, err := config.Load(config.Source{DataDir: data})
	if err != nil {
		return err
	}
	noise := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
	if err := errors.Join(os.MkdirAll(cfg.SocialDir(), 0o700), os.WriteFile(filepath.Join(cfg.SocialDir(), "a"), noise, 0o600)); err != nil {
		return err
	}
	_, err = onbackup.Make(context.Background(), onbackup.Options{Config: cfg, To: filepath.Join(dir, "to")})
	left, _ := filepath.Glob(filepath.Join(dir, "to", ".*"))
	if !errors.Is(err, onbackup.ErrNoRoom) || len(left) > 0 {
		return fmt.Errorf("%v, and it left %v", err, left)
	}
	return nil
}
