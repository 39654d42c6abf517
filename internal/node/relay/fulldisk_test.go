package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const (
	fullDiskEnv = "RELAY_TEST_FULL_DISK"
	fullDiskAt  = "RELAY_TEST_FULL_DISK_AT" // where nginx listens
)

// On a full disk nginx takes encoders in with the configuration that is there.
func TestNginxStartsOnAFullDisk(t *testing.T) {
	t.Setenv(fullDiskAt, freeAddress(t))
	testkit.InOwnMounts(t, fullDiskEnv)
}

func fullDiskStory(dir string) error {
	data, run := dir+"/data", dir+"/run"
	if err := errors.Join(os.Mkdir(data, 0o700), os.Mkdir(run, 0o700), testkit.SmallDisk(data, 256)); err != nil {
		return err
	}
	r := RTMP{Address: os.Getenv(fullDiskAt), Dir: data + "/rtmp", Runtime: run, HookAddress: "unix:" + data + "/h", StatAddress: "unix:" + data + "/s"}
	if err := answers(r); err != nil {
		return fmt.Errorf("with room: %w", err)
	}
	if _, err := testkit.Fill(data); err != nil {
		return err
	}
	if err := answers(r); err != nil {
		return fmt.Errorf("on a full disk: %w", err)
	}
	return nil
}

// answers runs nginx until it takes a connection, and returns why it ended before.
func answers(r RTMP) error {
	spec, err := r.Prepare()
	if err != nil {
		return err
	}
	spec.Stderr = os.Stdout
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		exit, err := proc.Run(ctx, spec, nil)
		ended <- errors.Join(fmt.Errorf("nginx ended: %s", exit), err)
	}()
	err = retry.Until(ctx, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.Address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	cancel()
	exit := <-ended
	if err != nil {
		return exit
	}
	return nil
}

// What lasts no longer than a boot is kept where only this user writes.
func TestNginxKeepsItsProcessIDOutOfTheData(t *testing.T) {
	for _, c := range []struct {
		user                int
		service, login, dir string
	}{
		{0, "", "/run/user/0", "/run"},
		{0, "/run/athir:/run/more", "", "/run/athir"},
		{1000, "/run/athir", "/run/user/1000", "/run/athir"},
		{1000, "", "/run/user/1000", "/run/user/1000"},
		{1000, "/gone", "/run/user/1000", "/run/user/1000"},
		{1000, "", "/run/user/0", ""}, // another's, as after su
		{1000, "", "", ""},
	} {
		env := map[string]string{"RUNTIME_DIRECTORY": c.service, "XDG_RUNTIME_DIR": c.login}
		writable := func(dir string) bool { return dir != "/gone" && (c.user == 0 || dir != "/run/user/0") }
		if got := runtimeDir(c.user, func(name string) string { return env[name] }, writable); got != c.dir {
			t.Errorf("%+v: %q", c, got)
		}
	}
	one, other := RTMP{Dir: "/a", Runtime: "/run"}.pidFile(), RTMP{Dir: "/b", Runtime: "/run"}.pidFile()
	if one == other {
		t.Errorf("two stations share %s", one)
	}
}
