package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// children is everything that was started.
type children struct{ wg sync.WaitGroup }

func (c *children) wait() { c.wg.Wait() }

// start runs a program until ctx ends.
func (c *children) start(ctx context.Context, spec proc.Spec) (pid int, err error) {
	begun := make(chan error, 1)
	c.wg.Go(func() {
		exit, err := proc.Run(ctx, spec, func(id int) { pid = id; begun <- nil })
		if err == nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "bench: %s ended: %s\n", spec.Name, exit)
		}
		begun <- err
	})
	return pid, <-begun
}

// songs are how many the station's library holds.
const songs = 60

var portNames = []string{"control", "icecast", "harbor", "chat", "player", "whip", "rtmp", "hls", "paths", "nats", "turn", "turns", "live", "media"}

// startStation puts a whole station on air, and returns its control plane.
func startStation(ctx context.Context, all *children, dir string) (server, error) {
	binary, media := filepath.Join(dir, "athir"), filepath.Join(dir, "media", "english")
	if _, err := proc.Output(ctx, proc.Spec{Name: "go", Path: "go", Args: []string{"build", "-o", binary, "./cmd/athir"}}, 1<<20); err != nil {
		return server{}, fmt.Errorf("build athir: %w", err)
	}
	if err := os.MkdirAll(media, 0o755); err != nil { //nolint:gosec // as the station's own
		return server{}, err
	}
	for i := range songs {
		_, err := proc.Output(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("sine=frequency=%d:duration=90", 200+i*10), "-metadata", fmt.Sprintf("title=أغنية رقم %d", i),
			"-metadata", fmt.Sprintf("artist=فنان %d", i%20), "-b:a", "64k", filepath.Join(media, fmt.Sprintf("%d.mp3", i)),
		}}, 1<<20)
		if err != nil {
			return server{}, fmt.Errorf("make a song: %w", err)
		}
	}
	env := append(os.Environ(), "ATHIR_BIND=127.0.0.1", "ATHIR_LIBRARY_MASTERING=false", "ATHIR_SPEECH_OFFLINE=true", "BULLETIN_HOURS=0", "CONTENT_REFRESH_HOURS=0", "ATHIR_LOG_LEVEL=error", "STATION_KEY="+stationKey)
	var control int
	for _, name := range portNames {
		port, err := freePort()
		if err != nil {
			return server{}, err
		}
		if name == "control" {
			control = port
		}
		env = append(env, fmt.Sprintf("ATHIR_PORTS_%s=%d", strings.ToUpper(name), port))
	}
	args := []string{"run", "--data", filepath.Join(dir, "data"), "--media", filepath.Join(dir, "media")}
	if _, err := all.start(ctx, proc.Spec{Name: "athir", Path: binary, Args: args, Env: env, Stderr: os.Stderr}); err != nil {
		return server{}, err
	}
	st := server{addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(control))}
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if st.pid = onAir(ctx, st.addr); st.pid > 0 {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, errors.New("the station is not on air after two minutes")
		}
		if err := retry.Pause(ctx, 200*time.Millisecond); err != nil {
			return st, err
		}
	}
}

// onAir is the process of a control plane whose station plays; 0 until it does.
func onAir(ctx context.Context, addr string) (pid int) {
	var status struct {
		OnAir     bool
		Rotation  struct{ Length int }
		Processes []struct {
			Name string
			PID  int
		}
	}
	body, err := fetch(ctx, addr, "/api/status", stationKey)
	if err != nil || json.Unmarshal(body, &status) != nil || !status.OnAir || status.Rotation.Length < songs/2 {
		return 0
	}
	for _, p := range status.Processes {
		if p.Name == "control" {
			pid = p.PID
		}
	}
	return pid
}

// stationKey shows the process ids.
const stationKey = "bench"

func fetch(ctx context.Context, addr, path, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Station-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	return io.ReadAll(res.Body)
}

// startBare starts the peer with the station's own answers.
func startBare(ctx context.Context, all *children, dir string, st server) (server, error) {
	for _, route := range routes {
		body, err := fetch(ctx, st.addr, route, "")
		if err != nil {
			return server{}, err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(route)), body, 0o600); err != nil {
			return server{}, err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return server{}, err
	}
	port, err := freePort()
	if err != nil {
		return server{}, err
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	pid, err := all.start(ctx, proc.Spec{Name: "bare", Path: exe, Args: []string{"-role", "bare", "-dir", dir}, Env: append(os.Environ(), "ADDR="+addr), Stderr: os.Stderr})
	if err != nil {
		return server{}, err
	}
	for {
		if _, err := fetch(ctx, addr, routes[0], ""); err == nil {
			return server{addr: addr, pid: pid}, nil
		}
		if err := retry.Pause(ctx, 20*time.Millisecond); err != nil {
			return server{}, err
		}
	}
}

// bare is the peer: net/http that writes bytes.
func bare(ctx context.Context, o options) error {
	mux := http.NewServeMux()
	for _, route := range routes {
		body, err := os.ReadFile(filepath.Join(o.dir, filepath.Base(route)))
		if err != nil {
			return err
		}
		mux.HandleFunc("GET "+route, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = io.Copy(w, bytes.NewReader(body))
		})
	}
	s := &http.Server{Addr: os.Getenv("ADDR"), Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
