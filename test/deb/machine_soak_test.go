//go:build soak

package deb

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// machine is a Debian of its own: systemd is its first process (systemd-nspawn), its
// network is its own and has no way out.
type machine struct {
	t    *testing.T
	root string
	boot *exec.Cmd
	done chan error
}

// bare makes a Debian 12 with systemd and nothing else, and fetches into its package cache
// what the package at deb wants. It uses the sources and the proxy of this machine's apt.
func bare(t *testing.T, deb string) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("a machine is made and started by root: run this as root")
	}
	dir, err := os.MkdirTemp("/var/tmp", "athir-deb-") // on the disk: two gigabytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the machine: %v", err)
		}
	})
	m := &machine{t: t, root: filepath.Join(dir, "root")}
	options := filepath.Join(dir, "apt.conf")
	run(t, "sh", "-c", "apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Check-Date|Retries)' >"+options+" || true")
	args := []string{
		"--variant=minbase", "--skip=cleanup/apt", "--include=systemd-sysv,ca-certificates,iproute2,procps,passwd", "--aptopt=" + options,
		"--customize-hook=copy-in " + deb + " /root",
		// As an operator's apt would, with what is recommended.
		`--customize-hook=chroot "$1" env -u APT_CONFIG apt-get -q -y -o APT::Install-Recommends=true --download-only install /root/` + filepath.Base(deb),
		"bookworm", m.root,
	}
	run(t, "mmdebstrap", append(args, sources(t)...)...)
	return m
}

// sources are the files by which this machine's apt knows Debian.
func sources(t *testing.T) (out []string) {
	t.Helper()
	for _, pattern := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list", "/etc/apt/sources.list.d/*.sources"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("bookworm")) && bytes.Contains(b, []byte("main")) {
				out = append(out, path)
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("this machine's apt has no sources of Debian 12: this test makes a machine from them")
	}
	return out
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// start boots it.
func (m *machine) start() {
	m.t.Helper()
	m.boot = exec.Command("systemd-nspawn", "-q", "-D", m.root, "-M", "athir-"+strconv.Itoa(os.Getpid()), "-b", "--private-network",
		"--register=no", "--keep-unit", "--rlimit=RLIMIT_NICE=40", "--rlimit=RLIMIT_NOFILE=1024:524288")
	m.boot.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var console bytes.Buffer
	m.boot.Stdout, m.boot.Stderr = &console, &console
	if err := m.boot.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.done = make(chan error, 1)
	go func() { m.done <- m.boot.Wait() }()
	m.t.Cleanup(func() { m.end() })
	testkit.EventuallyNil(m.t, "the machine boots", func() error {
		select {
		case err := <-m.done:
			m.done <- err
			m.t.Fatalf("the machine ended: %v\n%s", err, console.String())
		default:
		}
		out, err := m.try("systemctl", "is-system-running")
		if text := strings.TrimSpace(out); text == "running" || text == "degraded" || text == "starting" {
			return nil
		}
		return fmt.Errorf("%s: %w", out, err)
	})
	// An address like that of any server: phones that go live want one.
	run(m.t, "nsenter", "--target", m.first(), "--net", "sh", "-c", "ip tuntap add dev outside mode tap && ip addr add 192.0.2.7/24 dev outside && ip link set dev outside up")
}

// first is the machine's first process, as this machine numbers it.
func (m *machine) first() string {
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", m.boot.Process.Pid, m.boot.Process.Pid))
	if pids := strings.Fields(string(list)); err == nil && len(pids) > 0 {
		return pids[0]
	}
	return "0"
}

func (m *machine) try(args ...string) (string, error) {
	in := append([]string{
		"--target", m.first(), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", "--",
		"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive",
	}, args...)
	out, err := exec.Command("nsenter", in...).CombinedOutput()
	return string(out), err
}

// do runs a program in it, which must succeed.
func (m *machine) do(args ...string) string {
	m.t.Helper()
	out, err := m.try(args...)
	if err != nil {
		log, _ := m.try("journalctl", "-u", "athir*", "-n", "40", "--no-pager")
		m.t.Fatalf("in the machine, %q: %v\n%s\n%s", args, err, out, log)
	}
	return strings.TrimSpace(out)
}

// end powers it off, as an operator does, and waits.
func (m *machine) end() {
	if m.done == nil {
		return
	}
	_, _ = m.try("systemctl", "poweroff") // the answer is cut off
	select {
	case <-m.done:
	case <-time.After(time.Minute): // a machine that does not end must not outlive the test
		pid, _ := strconv.Atoi(m.first())
		_ = syscall.Kill(max(pid, m.boot.Process.Pid), syscall.SIGKILL)
		<-m.done
		m.t.Error("the machine did not power off within a minute")
	}
	m.done = nil
}

// heard waits for five seconds of sound at the streaming server.
func (m *machine) heard() {
	m.t.Helper()
	testkit.EventuallyNil(m.t, "the station is heard", func() error {
		out, err := m.try("ffmpeg", "-hide_banner", "-nostats", "-t", "5", "-i", "http://127.0.0.1:8005/main", "-af", "volumedetect", "-f", "null", "-")
		if err != nil {
			return fmt.Errorf("%w: %.200s", err, out)
		}
		_, after, ok := strings.Cut(out, "mean_volume: ")
		level, perr := strconv.ParseFloat(strings.Fields(after + " ?")[0], 64)
		if !ok || perr != nil || level < -45 {
			return fmt.Errorf("five seconds at %.1f dB", level)
		}
		return nil
	})
}

// listens reports whether something listens at a port of it.
func (m *machine) listens(port int) bool {
	out := m.do("ss", "-Hltn", "sport = :"+strconv.Itoa(port))
	return strings.Contains(out, net.JoinHostPort("", strconv.Itoa(port)))
}

// packed builds a real package of this machine's architecture.
func packed(t *testing.T, env ...string) string {
	t.Helper()
	dir := t.TempDir()
	arch := strings.TrimSpace(run(t, "dpkg", "--print-architecture"))
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), root+"/scripts/deb.sh", arch)
	cmd.Env = append(append(os.Environ(), "OUT="+dir), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/deb.sh: %v\n%s", err, out)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.deb"))
	if len(found) != 1 {
		t.Fatalf("scripts/deb.sh made %q", found)
	}
	path := filepath.Join(dir, filepath.Base(strings.SplitN(found[0], "_", 2)[0]+"-"+fmt.Sprint(len(env))+".deb"))
	if err := os.Rename(found[0], path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSoakInstalledRebootedUpgradedAndPurged is a package's whole life on a bare Debian 12.
func TestSoakInstalledRebootedUpgradedAndPurged(t *testing.T) {
	deb, newer := packed(t), packed(t, "DESCRIBED=v999.0.0")
	m := bare(t, deb)
	m.start()

	begin := time.Now()
	said := m.do("apt-get", "-q", "-y", "install", "/root/"+filepath.Base(deb))
	installed := time.Since(begin)
	m.heard()
	t.Logf("from apt install, package cache warm: installed after %.1f s, five seconds heard after %.1f s (aim: 60 s); systemd in systemd-nspawn",
		installed.Seconds(), time.Since(begin).Seconds())
	m.installed(said)
	m.takesMusic()
	m.rebooted()
	m.killed()
	m.wedged()
	m.upgraded(newer)
	m.inParts()
	m.purged()
}

// installed looks at what an installation is.
func (m *machine) installed(said string) {
	t := m.t
	for _, service := range []string{"nginx", "icecast2"} {
		if !strings.Contains(said, "athir: Debian's "+service+" came with this package and is switched off") {
			t.Errorf("the installation does not say that %s is switched off:\n%s", service, said)
		}
		if out, _ := m.try("systemctl", "is-enabled", service); strings.TrimSpace(out) == "enabled" {
			t.Errorf("Debian's %s starts at the next boot", service)
		}
	}
	for _, port := range []int{80, 8000} {
		if m.listens(port) {
			t.Errorf("something of Debian's listens at port %d", port)
		}
	}
	state := strings.Fields(m.do("systemctl", "show", "athir", "-p", "ActiveState", "-p", "UnitFileState", "-p", "User", "-p", "NRestarts"))
	slices.Sort(state)
	if !slices.Equal(state, []string{"ActiveState=active", "NRestarts=0", "UnitFileState=enabled", "User=athir"}) {
		t.Errorf("the unit is %q", state)
	}
	testkit.Eventually(t, "systemctl status says that the station is on the air", func() bool {
		return m.do("systemctl", "show", "athir", "-p", "StatusText") == "StatusText=on air"
	})
	want := "-10"
	if limit := m.do("sh", "-c", "prlimit --pid 1 --nice -o HARD --noheadings"); limit == "0" {
		want = "0" // this machine's own root may raise no limit, so systemd cannot either
		t.Log("niceness of the air is not seen here: RLIMIT_NICE cannot be raised")
	}
	if nice := m.do("sh", "-c", "ps -o ni= -p $(pgrep -x liquidsoap)"); nice != want {
		t.Errorf("the engine runs at niceness %s, not %s", nice, want)
	}
	if caps := m.do("sh", "-c", "grep CapEff /proc/$(pgrep -x liquidsoap)/status"); !strings.HasSuffix(caps, "0000000000000000") {
		t.Errorf("the engine has capabilities: %s", caps)
	}
	if mode := m.do("stat", "-c", "%a %U", "/var/lib/athir/athir.yaml"); mode != "600 athir" {
		t.Errorf("the settings are %s", mode)
	}
	key := m.do("sh", "-c", "sed -n 's/^station_key: *//p' /etc/athir/athir.yaml")
	if len(strings.Trim(key, `"`)) < 16 {
		t.Errorf("there is no station key: %q", key)
	}
	if out, _ := m.try("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "grep", "-rlsF", strings.Trim(key, `"`), "/etc", "/var", "/run", "/tmp"); strings.TrimSpace(out) != "" {
		t.Errorf("anybody can read the key in %q", out)
	}
	if log := m.do("journalctl", "-u", "athir", "-o", "cat", "--no-pager"); strings.Contains(log, "time=") || strings.Contains(log, strings.Trim(key, `"`)) {
		t.Errorf("the journal has a second time, or the key:\n%s", log)
	}
	if errs := m.do("journalctl", "-u", "athir", "-o", "cat", "-p", "err", "--no-pager"); strings.Contains(errs, "permitted") || strings.Contains(errs, "denied") {
		t.Errorf("the sandbox is in the way:\n%s", errs)
	}
	if words := m.do("bash", "-c", ". /usr/share/bash-completion/completions/athir; COMP_WORDS=(athir ro); COMP_CWORD=1; _athir; echo ${COMPREPLY[*]}"); words != "rotation" {
		t.Errorf("bash completes ro to %q", words)
	}
}

// takesMusic copies a song in as a member of the group, as the manual says.
func (m *machine) takesMusic() {
	m.do("useradd", "--create-home", "--groups", "athir", "mona")
	m.do("setpriv", "--reuid=mona", "--regid=mona", "--init-groups", "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "sine=330:duration=150",
		"-f", "lavfi", "-i", "sine=440:duration=150", "-filter_complex", "amix,tremolo=2:0.5", "-metadata", "title=First song", "-metadata", "artist=Nobody", "/var/lib/athir/media/music/english/first.mp3")
	begin := time.Now()
	testkit.Eventually(m.t, "the song is on the air", func() bool {
		out, _ := m.try("curl", "-s", "http://127.0.0.1:5000/api/status")
		return strings.Contains(out, "First song")
	})
	m.t.Logf("a copied song is on the air after %.1f s", time.Since(begin).Seconds())
}

// rebooted is the specification's word on reboots: nobody does anything.
func (m *machine) rebooted() {
	m.end()
	begin := time.Now()
	m.start()
	m.heard()
	m.t.Logf("after a reboot five seconds were heard %.1f s after the first process began", time.Since(begin).Seconds())
	testkit.Eventually(m.t, "bridge, player and chat run after the reboot", func() bool {
		for _, url := range []string{"http://127.0.0.1:19351/main/index.m3u8", "http://127.0.0.1:4477/", "http://127.0.0.1:8094/livez"} {
			if _, err := m.try("curl", "-sfL", "-o", "/dev/null", "-c", "/tmp/jar", "-b", "/tmp/jar", url); err != nil {
				return false
			}
		}
		return true
	})
}

// killed kills the supervisor, with which all of the station ends.
func (m *machine) killed() {
	before := m.do("systemctl", "show", "athir", "-p", "MainPID", "--value")
	m.do("kill", "-KILL", before)
	testkit.Eventually(m.t, "systemd starts the station again", func() bool {
		now := m.do("systemctl", "show", "athir", "-p", "MainPID", "--value")
		return now != before && now != "0"
	})
	m.heard()
}

// wedged stops the supervisor where it stands. Its watchdog is set to less than the unit's
// three minutes.
func (m *machine) wedged() {
	m.do("sh", "-c", "mkdir -p /run/systemd/system/athir.service.d && printf '[Service]\\nWatchdogSec=40\\n' >/run/systemd/system/athir.service.d/test.conf && systemctl daemon-reload && systemctl restart athir")
	m.heard()
	pid := func() string { return m.do("systemctl", "show", "athir", "-p", "MainPID", "--value") }
	before := pid()
	// Well beyond the watchdog's time: what works is left alone.
	testkit.Eventually(m.t, "the supervisor has run for longer than its watchdog's time", func() bool {
		seconds, err := strconv.Atoi(m.do("ps", "-o", "etimes=", "-p", before))
		return err == nil && seconds > 60
	})
	if now := pid(); now != before {
		m.t.Errorf("the watchdog killed a healthy supervisor: process %s, then %s", before, now)
	}
	m.do("kill", "-STOP", before)
	testkit.Eventually(m.t, "systemd replaces the supervisor that is wedged", func() bool { now := pid(); return now != before && now != "0" })
	m.heard()
	m.do("sh", "-c", "rm -r /run/systemd/system/athir.service.d && systemctl daemon-reload && systemctl restart athir")
}

func (m *machine) upgraded(newer string) {
	t := m.t
	m.do("sed", "-i", `s/^OPTIONS=.*/OPTIONS="--media \/var\/lib\/athir\/media"/`, "/etc/default/athir")
	settings, pid := m.do("sha256sum", "/var/lib/athir/athir.yaml"), m.do("systemctl", "show", "athir", "-p", "MainPID", "--value")
	if err := exec.Command("cp", newer, filepath.Join(m.root, "root", "newer.deb")).Run(); err != nil {
		t.Fatal(err)
	}
	m.do("systemctl", "enable", "--now", "nginx") // the operator's front
	m.do("apt-get", "-q", "-y", "install", "/root/newer.deb")
	if got := m.do("athir", "version"); got != "athir v999.0.0" {
		t.Errorf("after the upgrade it is %q", got)
	}
	if now := m.do("systemctl", "show", "athir", "-p", "MainPID", "--value"); now != pid {
		t.Errorf("the upgrade ended process %s and began %s: listeners were cut off", pid, now)
	}
	if program := m.do("readlink", "/proc/"+pid+"/exe"); program != "/usr/bin/athir" { // "… (deleted)" is the old one
		t.Errorf("after the upgrade %s runs", program)
	}
	if m.do("sha256sum", "/var/lib/athir/athir.yaml") != settings {
		t.Error("the upgrade changed the settings")
	}
	if !strings.Contains(m.do("cat", "/etc/default/athir"), "--media /var/lib") {
		t.Error("the upgrade replaced the operator's variables")
	}
	if !m.listens(80) {
		t.Error("the upgrade switched off the operator's own nginx")
	}
	m.heard()
	// A station that was stopped stays so.
	m.do("systemctl", "stop", "athir")
	m.do("dpkg", "-i", "/root/newer.deb")
	if out, _ := m.try("systemctl", "is-active", "athir"); strings.TrimSpace(out) != "inactive" {
		t.Errorf("an upgrade started a station that the operator had stopped: %s", out)
	}
}

// inParts runs the units of several machines on this one.
func (m *machine) inParts() {
	m.do("systemctl", "start", "athir-control", "athir-node")
	m.heard()
	m.do("systemctl", "stop", "athir-node")
	m.do("systemctl", "start", "athir-chat", "athir-player", "athir-whip")
	for _, part := range []string{"control", "chat", "player", "whip"} {
		if got := m.do("systemctl", "show", "athir-"+part, "-p", "StatusText", "-p", "NRestarts"); !strings.Contains(got, "StatusText=serving") || !strings.Contains(got, "NRestarts=0") {
			m.t.Errorf("athir-%s is %q", part, got)
		}
	}
	m.do("systemctl", "stop", "athir-control", "athir-chat", "athir-player", "athir-whip")
}

func (m *machine) purged() {
	t := m.t
	m.do("systemctl", "start", "athir")
	said := m.do("apt-get", "-q", "-y", "purge", "athir")
	for _, word := range []string{"stays in /var/lib/athir", "rm -r /var/lib/athir"} {
		if !strings.Contains(said, word) {
			t.Errorf("the purge does not say %q:\n%s", word, said)
		}
	}
	if out := m.do("sh", "-c", "ls -d /etc/athir /etc/default/athir /etc/systemd/system/*/athir* 2>/dev/null || true"); out != "" {
		t.Errorf("the purge left %q", out)
	}
	m.do("test", "-s", "/var/lib/athir/media/music/english/first.mp3")
	if running, _ := m.try("pgrep", "-l", "-u", "athir"); running != "" {
		t.Errorf("the purge left running\n%s", running)
	}
}
