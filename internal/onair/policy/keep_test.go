package policy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

const killedEnv = "POLICY_TEST_KILLED"

// TestMain doubles as the child that a test kills.
func TestMain(m *testing.M) {
	if path := os.Getenv(killedEnv); path != "" {
		if err := editUntilKilled(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	testkit.Main(m)
}

// editUntilKilled says each change that it made once that is answered.
func editUntilKilled(path string) error {
	o, err := kept(path)
	for n := 1000; err == nil; n++ {
		if _, err = o.Patch(context.Background(), "salma", fmt.Appendf(nil, `{"AD_EVERY":%d}`, n)); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

func kept(path string) (*policy.Owner, error) {
	o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
	if err != nil {
		return nil, err
	}
	return o.Keep(policy.Keeping{}), nil
}

// Whatever was answered before a kill is in force after it, and can be undone.
func TestWhatWasAnsweredOutlivesAKill(t *testing.T) {
	for _, lines := range []int{1, 2, 3, 5, 17, 40} {
		path := filepath.Join(t.TempDir(), "station.json")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killedEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said, last := 0, 0
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if last, err = strconv.Atoi(scan.Text()); err != nil {
				t.Fatalf("the child: %s", scan.Text())
			}
			if said++; said == lines {
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		o, err := kept(path)
		if err != nil {
			t.Fatal(err)
		}
		is, past := o.Current().AdEvery, o.History()
		if is != last && is != last+1 { // the next may have been written and not said
			t.Fatalf("said %d, in force %d", last, is)
		}
		if len(past) == 0 || past[0].By != "salma" || len(past) != min(policy.MostPast, is-999) {
			t.Fatalf("in force %d, and the history has %d changes", is, len(past))
		}
		if _, _, err := o.Undo(t.Context(), "", 0); err != nil {
			t.Fatal(err)
		}
		want := is - 1
		if want < 1000 {
			want = policy.Defaults().AdEvery
		}
		if got := o.Current().AdEvery; got != want {
			t.Errorf("undone after the kill: %d, want %d", got, want)
		}
	}
}

// blocked makes a file impossible to replace, also for root, until the returned function is called.
func blocked(t *testing.T, path string) (free func()) {
	t.Helper()
	if err := os.MkdirAll(path+".new/held", 0o700); err != nil { // where the new file would be made
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(path + ".new"); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that takes nothing keeps nobody from steering the station: the change is in force, it
// is said that it is not kept, and it is kept as soon as the disk takes it.
func TestWhatCannotBeKeptIsInForceAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "station.json")
		log, lines := testkit.Log(t)
		o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
		if err != nil {
			t.Fatal(err)
		}
		o.Keep(policy.Keeping{Log: log, Again: time.Minute})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = o.Run(ctx) })
		free := blocked(t, path)
		for _, patch := range []string{`{"AD_EVERY":9}`, `{"AD_EVERY":7}`} {
			if _, err := o.Patch(t.Context(), "", json.RawMessage(patch)); err != nil {
				t.Fatal(err)
			}
		}
		if o.Current().AdEvery != 7 || o.Saved() || !errors.Is(o.Unsaved(), station.ErrUnavailable) {
			t.Errorf("AD_EVERY %d, saved %v, unsaved: %v", o.Current().AdEvery, o.Saved(), o.Unsaved())
		}
		if err := o.Save(t.Context()); !errors.Is(err, station.ErrUnavailable) {
			t.Errorf("saved: %v", err)
		}
		time.Sleep(5 * time.Minute)
		if o.Saved() || lines.Count("cannot be saved") != 1 {
			t.Errorf("saved %v, logged %d times", o.Saved(), lines.Count("cannot be saved"))
		}
		free()
		time.Sleep(2 * time.Minute)
		if !o.Saved() || o.Unsaved() != nil || lines.Count("saved again") != 1 {
			t.Errorf("saved %v, unsaved: %v", o.Saved(), o.Unsaved())
		}
		again, err := kept(path)
		if err != nil || again.Current().AdEvery != 7 || len(again.History()) != 2 {
			t.Errorf("after a restart: %v, AD_EVERY %d, %d changes", err, again.Current().AdEvery, len(again.History()))
		}
		cancel()
		running.Wait()
	})
}

// Who frees the disk restarts the station at once: what is in force is written at its stop.
func TestAStopTriesOnceMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	log, _ := testkit.Log(t)
	o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	o.Keep(policy.Keeping{Log: log, Again: time.Hour})
	free := blocked(t, path)
	if _, err := o.Patch(t.Context(), "", json.RawMessage(`{"AD_EVERY":9}`)); err != nil || o.Saved() {
		t.Fatalf("%v, saved %v", err, o.Saved())
	}
	free()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := kept(path); err != nil || again.Current().AdEvery != 9 || len(again.History()) != 1 {
		t.Errorf("after the restart: %v, %+v", err, again)
	}
}

// Whoever edits the file while the station runs, for its next start, does not lose the edit to
// the next click without a word.
func TestAFileThatSomebodyElseChangedIsPutAside(t *testing.T) {
	d := newDesk(t)
	log, lines := testkit.Log(t)
	d.open()
	d.Owner = d.With(func(context.Context, rotation.Config) (bool, error) { return true, nil }).Keep(policy.Keeping{Log: log})
	aside := d.path + ".replaced"
	d.merged(`{"AD_EVERY":9}`)
	if err := d.KeepLive(t.Context(), json.RawMessage(streams)); err != nil {
		t.Fatal(err)
	}
	d.merged(`{"AD_EVERY":8}`)
	free := blocked(t, d.path)
	d.merged(`{"AD_EVERY":7}`)
	free()
	d.merged(`{"AD_EVERY":6}`)
	if _, err := os.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("put aside what was its own: %v", err)
	}
	for n, edit := range []func(){
		func() { d.merged(`{"MOOD":"party"}`) },
		func() {
			if err := d.Save(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			if _, err := d.Reset(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			if err := d.KeepLive(t.Context(), json.RawMessage(`{"streams":[]}`)); err != nil {
				t.Fatal(err)
			}
			d.merged(`{"MASHUP_CHANCE":0.3}`)
		},
	} {
		text := fmt.Sprintf(`{"AD_EVERY":%d}`, 100+n)
		write(t, d.path, text)
		edit()
		if kept, err := os.ReadFile(aside); !strings.Contains(strings.ReplaceAll(string(kept), " ", ""), text[1:len(text)-1]) || lines.Count("somebody changed the file") != n+1 {
			t.Errorf("edit %d: %v, kept is %q, told %d times", n, err, kept, lines.Count("somebody changed the file"))
		}
		if again, err := policy.Open(d.path, nil); err != nil || again.Current().AdEvery != d.Current().AdEvery {
			t.Errorf("edit %d: %v, the file is not what is in force", n, err)
		}
	}
}

// The list of changes is less than the changes: without it they are kept all the same.
func TestAHistoryThatCannotBeWrittenKeepsNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	log, lines := testkit.Log(t)
	o, err := policy.Open(path, func(context.Context, rotation.Config) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	o.Keep(policy.Keeping{Log: log})
	free := blocked(t, path+".history")
	for n := range 3 {
		if _, err := o.Patch(t.Context(), "", fmt.Appendf(nil, `{"AD_EVERY":%d}`, 7+n)); err != nil || !o.Saved() || o.Unsaved() != nil {
			t.Fatalf("%v, saved %v, unsaved: %v", err, o.Saved(), o.Unsaved())
		}
	}
	if lines.Count("cannot write the latest changes") != 1 {
		t.Error("it is not logged once")
	}
	free()
	if _, err := o.Mood(t.Context(), "", "chill"); err != nil {
		t.Fatal(err)
	}
	if again, err := kept(path); err != nil || len(again.History()) != 4 {
		t.Errorf("%v, %d changes", err, len(again.History()))
	}
}

// Changes that come while the disk is busy share one writing of the newest.
func TestManyChangesAtOnceShareOneWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "station.json")
	o, err := kept(path)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch) //nolint:errcheck // only read
	if _, err := unix.InotifyAddWatch(watch, filepath.Dir(path), unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	const many = 60
	var edits sync.WaitGroup
	o.WithDisk(func() {
		for n := range many {
			edits.Go(func() {
				name := fmt.Sprint("singer ", n)
				if _, err := o.Singers(t.Context(), "", policy.Edit{Category: station.English, Action: policy.Add, Names: []string{name}}); err != nil {
					t.Error(err)
				}
				if again, err := policy.Open(path, nil); err != nil || !strings.Contains(fmt.Sprint(again.Current().Singers), name) {
					t.Errorf("%s is answered, and not on disk: %v", name, err)
				}
			})
		}
		testkit.Eventually(t, "all are in force", func() bool { return len(o.Current().Singers[station.English]) == many })
	})
	edits.Wait()
	events := make([]byte, 1<<16)
	n, err := unix.Read(watch, events)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(events[:n]), "station.json\x00"); got != 1 {
		t.Errorf("written %d times for %d changes", got, many)
	}
	if !o.Saved() {
		t.Error("not saved")
	}
}

// A reset is written too, and undone after a restart.
func TestAResetIsKeptAndUndone(t *testing.T) {
	d := newDesk(t)
	d.keeping()
	d.merged(`{"AD_EVERY":9,"MOOD":"party"}`)
	if err := d.KeepLive(t.Context(), json.RawMessage(streams)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reset(t.Context(), "salma"); err != nil || !d.Saved() {
		t.Fatalf("%v, saved %v", err, d.Saved())
	}
	d.keeping()
	if got := d.Current(); got.AdEvery != policy.Defaults().AdEvery || string(got.Live) != streams || d.History()[0].By != "salma" {
		t.Fatalf("%+v, %+v", got, d.History())
	}
	d.undone(0)
	d.keeping()
	if got := d.Current(); got.AdEvery != 9 || got.Mood != "party" || string(got.Live) != streams {
		t.Errorf("%+v", got)
	}
}
