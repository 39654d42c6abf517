//go:build soak

package deb

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// base makes debian:12-slim from Debian's packages, with what Debian's own image has beside
// them: no daemon is started by an installation, and no manuals are unpacked.
func (e *engine) base() {
	archive, options := filepath.Join(e.dir, "base.tar"), filepath.Join(e.dir, "apt.conf")
	run(e.t, "sh", "-c", "apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Check-Date|Retries)' >"+options+" || true")
	args := []string{
		"--variant=minbase", "--include=ca-certificates", "--aptopt=" + options,
		"--customize-hook=copy-in " + options + " /etc/apt", `--customize-hook=mv "$1"/etc/apt/apt.conf "$1"/etc/apt/apt.conf.d/50machine`,
		`--customize-hook=printf '#!/bin/sh\nexit 101\n' >"$1"/usr/sbin/policy-rc.d && chmod 755 "$1"/usr/sbin/policy-rc.d`,
		`--customize-hook=printf 'path-exclude /usr/share/doc/*\npath-exclude /usr/share/man/*\n' >"$1"/etc/dpkg/dpkg.cfg.d/docker`,
		"bookworm", archive,
	}
	run(e.t, "mmdebstrap", append(args, sources(e.t)...)...)
	e.do(e.cli, "import", archive, "docker.io/library/debian:12-slim")
	if err := os.Remove(archive); err != nil {
		e.t.Fatal(err)
	}
}

// project is a compose file as shipped, with what a test must change beside it.
type project struct {
	*engine
	words []string
}

func (e *engine) project(name, files, beside, env string) *project {
	words := []string{"docker-compose", "-p", name, "--env-file", e.write(name+".env", env)}
	for _, file := range strings.Fields(files) {
		words = append(words, "-f", filepath.Join(root, "deploy/compose", file))
	}
	return &project{e, append(words, "-f", e.write(name+".yaml", beside))}
}

func (p *project) compose(args ...string) string {
	p.t.Helper()
	return p.do(slices.Concat(p.words, args)...)
}

// under is a shell command's output in a service's container.
func (p *project) under(service, command string) string {
	p.t.Helper()
	return p.compose("exec", "-T", service, "sh", "-c", command)
}

// own is what this machine's root may not give, for every service.
func (e *engine) own() string {
	if nofile, nproc := limits(e.t); !mayRaise() {
		return fmt.Sprintf("    ulimits: {nofile: %d, nproc: %d, nice: 0}\n    oom_score_adj: 0\n", nofile, nproc)
	}
	return ""
}

// mayRaise reports whether this process has CAP_SYS_RESOURCE.
func mayRaise() bool {
	status, _ := os.ReadFile("/proc/self/status")
	m := regexp.MustCompile(`CapEff:\s+([0-9a-f]+)`).FindSubmatch(status)
	if m == nil {
		return false
	}
	effective, err := strconv.ParseUint(string(m[1]), 16, 64)
	return err == nil && effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// heard waits for five seconds of sound at an address; through leads to its network.
func heard(t *testing.T, url string, through ...string) {
	t.Helper()
	testkit.EventuallyNil(t, url+" is heard", func() error {
		listen := append(slices.Clone(through), "ffmpeg", "-hide_banner", "-nostats", "-t", "5", "-i", url, "-af", "volumedetect", "-f", "null", "-")
		out, err := exec.Command(listen[0], listen[1:]...).CombinedOutput()
		_, after, ok := strings.Cut(string(out), "mean_volume: ")
		level, perr := strconv.ParseFloat(strings.Fields(after + " ?")[0], 64)
		if err != nil || !ok || perr != nil || level < -45 {
			return fmt.Errorf("%w: five seconds at %.1f dB: %.300s", errors.Join(err, perr), level, out)
		}
		return nil
	})
}

// silence tells, once, how long a listener of an address was without it: from being cut
// off to the first byte of a new connection.
func silence(t *testing.T, url string) <-chan time.Duration {
	t.Helper()
	first := func() (io.ReadCloser, error) {
		answer, err := http.Get(url)
		if err != nil {
			return nil, err
		}
		if _, err = io.ReadFull(answer.Body, make([]byte, 1)); err != nil || answer.StatusCode != http.StatusOK {
			return nil, errors.Join(fmt.Errorf("%s: %s", url, answer.Status), err, answer.Body.Close())
		}
		return answer.Body, nil
	}
	stream, err := first()
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan time.Duration, 1)
	go func() {
		_, _ = io.Copy(io.Discard, stream)
		_ = stream.Close()
		cut, again := time.Now(), time.NewTicker(20*time.Millisecond)
		defer again.Stop()
		for stream, err = first(); err != nil; stream, err = first() {
			select {
			case <-again.C:
			case <-t.Context().Done():
				return
			}
		}
		told <- time.Since(cut)
		_ = stream.Close()
	}()
	return told
}

// song is one of two and a half minutes.
func (e *engine) song(title string) string {
	path := filepath.Join(e.dir, strings.ToLower(strings.ReplaceAll(title, " ", "-"))+".mp3")
	run(e.t, "ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "sine=330:duration=150", "-f", "lavfi", "-i", "sine=440:duration=150",
		"-filter_complex", "amix,tremolo=2:0.5", "-metadata", "title="+title, "-metadata", "artist=Nobody", path)
	return path
}

func (e *engine) playing(url, title string) {
	e.t.Helper()
	testkit.Eventually(e.t, title+" is on the air", func() bool {
		out, _ := exec.Command("curl", "-s", url+"/api/status").Output()
		return strings.Contains(string(out), title)
	})
}

// TestSoakImageOnOneMachineAndOnThree builds the image as make image does, from the shipped
// Containerfile, and runs the shipped compose files with it.
func TestSoakImageOnOneMachineAndOnThree(t *testing.T) {
	e := podman(t)
	e.build("-q --pull=never --network=host")
	t.Run("one", func(t *testing.T) { e.with(t).onOne() })
	t.Run("three", func(t *testing.T) { e.with(t).onThree() })
	t.Run("published", func(t *testing.T) { e.with(t).published() })
	t.Run("https", func(t *testing.T) { e.with(t).withHTTPS() })
}

// TestSoakImageUnderDocker does so with Docker itself, whose BuildKit, health checks and
// networks are its own.
func TestSoakImageUnderDocker(t *testing.T) {
	e := docker(t)
	e.build("-q --network=host")
	t.Run("one", func(t *testing.T) { e.with(t).onOne() })
	t.Run("three", func(t *testing.T) { e.with(t).onThree() })
}

func (e *engine) build(options string) {
	deb := packed(e.t)
	if e.own() != "" {
		e.t.Log("this machine's root may raise no limit: niceness, open files and oom_score_adj of the compose files are not seen here")
	}
	e.base()
	e.env = append(e.env, "DEB="+deb, "ENGINE="+e.cli, "OPTIONS="+options)
	begin := time.Now()
	e.do(filepath.Join(root, "scripts/image.sh"))
	e.t.Logf("the image: %s, built in %.0f s", e.do(e.cli, "image", "inspect", "--format", "{{.Size}} bytes", "athir:local"), time.Since(begin).Seconds())
	if layers := e.do(e.cli, "history", "--no-trunc", "--format", "{{.CreatedBy}}", "athir:local"); strings.Contains(layers, "COPY") {
		e.t.Errorf("a layer holds the package:\n%s", layers)
	}
}

// onOne is one.yaml in the host's network, its ports moved and on loopback.
func (e *engine) onOne() {
	t := e.t
	ports, settings := map[string]int{}, []string{"ATHIR_BIND: 127.0.0.1"}
	_, section, _ := strings.Cut(text(t, "athir.example.yaml"), "\nports:\n")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \d+`).FindAllStringSubmatch(section, -1) {
		ports[m[1]] = testkit.Port(t)
		settings = append(settings, fmt.Sprintf("ATHIR_PORTS_%s: %d", strings.ToUpper(m[1]), ports[m[1]]))
	}
	at := func(port, path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", ports[port], path) }
	p := e.project("one", "one.yaml", "services:\n  athir:\n"+e.own()+"    environment: {"+strings.Join(settings, ", ")+"}\n", "")

	begin := time.Now()
	p.compose("up", "-d")
	heard(t, at("icecast", "/main"))
	t.Logf("one machine: from up -d, five seconds heard after %.1f s", time.Since(begin).Seconds())
	if running := p.compose("ps", "--services", "--filter", "status=running"); running != "athir" {
		t.Errorf("up -d starts %q", running)
	}
	e.do(e.cli, "cp", e.song("First song"), "one_athir_1:/srv/music/music/english/first-song.mp3")
	e.playing(at("control", ""), "First song")
	heard(t, at("icecast", "/main"))
	p.confined()
	p.told(at("control", "/studio"))
	p.reaps(at("icecast", "/main"))

	// Settings are read anew by the same processes.
	p.under("athir", `sed -i 's/^  reading: .*/  reading: 201/' /var/lib/athir/athir.yaml`)
	p.compose("kill", "-s", "HUP", "athir")
	testkit.Eventually(t, "the settings are read anew", func() bool { return strings.Contains(p.compose("logs", "athir"), "reloading settings") })
	if n := e.do(e.cli, "inspect", "--format", "{{.RestartCount}}", "one_athir_1"); n != "0" {
		t.Errorf("the container was restarted %s times", n)
	}
	e.healthy("one_athir_1")

	// Replaced by another container, as with a new image: the state stays.
	keys := `grep -E '^(station_key|sync_token|source_password):' /etc/athir/athir.yaml | sha256sum`
	before := p.under("athir", keys)
	silent := silence(t, at("icecast", "/main"))
	p.compose("up", "-d", "--force-recreate")
	t.Logf("replaced by another container: a listener is cut off and has sound again after %.1f s", (<-silent).Seconds())
	heard(t, at("icecast", "/main"))
	if p.under("athir", keys) != before {
		t.Error("the new container has other keys")
	}
	e.playing(at("control", ""), "First song")
	p.saved(keys, before)

	p.compose("stop")
	if code := e.do(e.cli, "inspect", "--format", "{{.State.ExitCode}}", "one_athir_1"); code != "0" {
		t.Errorf("told to end, the station ended with %s: 137 is a kill after the grace", code)
	}
	state := e.do(e.cli, "volume", "inspect", "--format", "{{.Mountpoint}}", "one_state")
	whole(t, filepath.Join(state, "athir.db"))
	p.compose("start")
	heard(t, at("icecast", "/main"))
	p.compose("down", "-v")
}

// pids is a shell command for the processes whose command line has some words.
func pids(words string) string {
	return `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline 2>/dev/null | grep -q '^[^ ]*` + words + ` ' && echo ${p#/proc/}; done; true`
}

// confined looks at what the station may do.
func (p *project) confined() {
	t := p.t
	if users := p.under("athir", `stat -c %u /proc/[0-9]* 2>/dev/null | sort -u`); users != "4477" {
		t.Errorf("processes run as %q", users)
	}
	status := p.under("athir", "cat /proc/$("+pids("liquidsoap")+")/status")
	for _, want := range []string{`CapEff:\s+0{16}`, `CapBnd:\s+0{16}`, `NoNewPrivs:\s+1`, `Seccomp:\s+2`} {
		if !regexp.MustCompile(want).MatchString(status) {
			t.Errorf("the engine's status lacks %s:\n%s", want, status)
		}
	}
	if out := p.under("athir", "touch /usr/bin/x /etc/x 2>&1 || true"); strings.Count(out, "Read-only file system") != 2 {
		t.Errorf("the image can be written: %s", out)
	}
	for _, compiler := range []string{"cc", "gcc", "go", "make"} {
		if out := p.under("athir", "command -v "+compiler+" || true"); out != "" {
			t.Errorf("the image has %s", out)
		}
	}
	if mode := p.under("athir", "stat -c '%a %U' /var/lib/athir/athir.yaml"); mode != "600 athir" {
		t.Errorf("the settings are %s", mode)
	}
}

// told looks for the first start's words, and that they do not give the key away.
func (p *project) told(studio string) {
	log, key := p.compose("logs", "athir"), p.under("athir", `sed -n 's/^station_key: "\(.*\)"/\1/p' /etc/athir/athir.yaml`)
	if !strings.Contains(log, studio) || !strings.Contains(log, "/var/lib/athir/athir.yaml") || len(key) < 16 || strings.Contains(log, key) {
		p.t.Errorf("the log lacks the studio's address or the settings' place, or has the key:\n%s", log)
	}
}

// reaps kills the control plane, which leaves its own children to the first process.
func (p *project) reaps(url string) {
	t := p.t
	if first := p.under("athir", "cat /proc/1/comm"); first != "tini" {
		t.Errorf("the first process is %s", first)
	}
	before := p.under("athir", pids("athir control"))
	p.under("athir", "kill -KILL "+before)
	testkit.Eventually(t, "the control plane is started again", func() bool {
		now := p.under("athir", pids("athir control"))
		return now != "" && now != before
	})
	testkit.Eventually(t, "nobody is left unreaped", func() bool {
		return p.under("athir", "grep -l '^State:.*Z' /proc/[0-9]*/status 2>/dev/null || true") == ""
	})
	heard(t, url)
}

// saved backs the station up through a pipe, and restores it into another one.
func (p *project) saved(keys, want string) {
	t := p.t
	file, err := os.Create(filepath.Join(p.dir, "backup.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pipe := func(words []string, args ...string) *exec.Cmd {
		args = slices.Concat(words, args)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = p.env
		return cmd
	}
	var said bytes.Buffer
	backup := pipe(p.words, "exec", "-T", "athir", "athir", "backup", "--to", "-")
	backup.Stdout, backup.Stderr = file, &said
	if err := backup.Run(); err != nil {
		t.Fatalf("back up: %v\n%s", err, said.String())
	}
	other := slices.Clone(p.words)
	other[2] = "other"
	if _, err := file.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	restore := pipe(other, "run", "-T", "--rm", "athir", "restore", "-", "--yes")
	restore.Stdin = file
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("restore: %v\n%s", err, out)
	}
	shown := pipe(other, "run", "-T", "--rm", "--entrypoint", "sh", "athir", "-c", keys)
	if out, err := shown.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the restored station has other keys: %v\n%s", err, out)
	}
	p.do(slices.Concat(other, []string{"down", "-v"})...)
}

// whole wants SQLite to find nothing wrong.
func whole(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var found string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
		t.Errorf("the database: %q %v", found, err)
	}
}

// onThree is three.yaml: three containers that share a network and nothing else, joined as
// the manual says.
func (e *engine) onThree() {
	t := e.t
	network := "athir-three"
	e.do(e.cli, "network", "create", network)
	t.Cleanup(func() {
		_, _ = e.try(e.cli, "rm", "-f", "edge", "node", "control")
		_, _ = e.try(e.cli, "network", "rm", network)
	})
	beside := "services:\n"
	for _, name := range []string{"control", "node", "edge"} {
		beside += "  " + name + ":\n    container_name: " + name + "\n    network_mode: " + network + "\n" + e.own()
	}
	env := "CONTROL=control\nNODE=node\n"
	begin := time.Now()
	joined := func(profile, line string) *project {
		env += line
		p := e.project("three", "three.yaml", beside, env+"COMPOSE_PROFILES="+profile+"\n")
		p.compose("up", "-d")
		if running := strings.Fields(p.compose("ps", "--services", "--filter", "status=running")); !slices.Contains(running, profile) {
			t.Errorf("of the profile %s run %q", profile, running)
		}
		return p
	}
	p := joined("control", "")
	lines := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^docker compose -f three.yaml (exec -T control .*)$`).FindAllStringSubmatch(text(t, "docs/containers.md"), -1) {
		cmd := exec.Command("sh", "-c", "docker-compose "+strings.Join(p.words[1:], " ")+" "+m[1])
		cmd.Env = e.env
		testkit.EventuallyNil(t, m[1], func() error {
			again := *cmd
			out, err := again.Output()
			if err == nil && !strings.Contains(string(out), "=") {
				err = fmt.Errorf("it prints %q", out)
			}
			for line := range strings.Lines(string(out)) {
				name, _, _ := strings.Cut(line, "=")
				lines[name] = line
			}
			return err
		})
	}
	if names := slices.Sorted(maps.Keys(lines)); !slices.Equal(names, []string{"EDGE_CREDENTIAL", "SOURCE_PASSWORD", "SYNC_TOKEN"}) {
		t.Fatalf("the manual's commands print %q", names)
	}
	joined("node", lines["SYNC_TOKEN"]+lines["SOURCE_PASSWORD"])
	env = "CONTROL=control\nNODE=node\n" // an edge gets none of these
	joined("edge", lines["EDGE_CREDENTIAL"])
	address := func(name string) string {
		return e.do(e.cli, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
	}
	hls := "http://" + address("edge") + ":8094/hls/main/index.m3u8"
	heard(t, hls)
	t.Logf("three machines: from the first up -d, five seconds of the edge's HLS heard after %.1f s", time.Since(begin).Seconds())
	e.do(e.cli, "cp", e.song("Far song"), "control:/srv/music/music/english/far-song.mp3")
	e.playing("http://"+address("control")+":5000", "Far song")
	heard(t, hls)
	for _, name := range []string{"control", "node", "edge"} {
		e.healthy(name)
		if secret := strings.TrimSpace(lines["SYNC_TOKEN"]); name == "edge" && strings.Contains(e.do(e.cli, "inspect", name), secret) {
			t.Error("the edge has the station's sync_token")
		}
		log := e.do(e.cli, "logs", name)
		t.Logf("%s: %d warnings, %d errors", name, strings.Count(log, "level=WARN"), strings.Count(log, "level=ERROR"))
	}
	e.do(e.cli, "stop", "-t", "20", "edge", "node", "control")
	for _, name := range []string{"control", "node", "edge"} {
		if code := e.do(e.cli, "inspect", "--format", "{{.State.ExitCode}}", name); code != "0" {
			t.Errorf("%s ended with %s", name, code)
		}
	}
}
