//go:build soak

package deb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// engine is podman, or Docker's daemon, with a store, networks and a socket of its own.
// Nothing of this machine's containers is touched, and no registry is asked.
type engine struct {
	t   *testing.T
	cli string // its command: podman or docker
	dir string
	env []string
}

func newEngine(t *testing.T, cli, socket string) *engine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("containers are started by root here: run this as root")
	}
	dir, err := os.MkdirTemp("/var/tmp", "athir-image-") // on the disk: some gigabytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the containers' store: %v", err)
		}
	})
	return &engine{t, cli, dir, append(os.Environ(), "DOCKER_HOST=unix://"+filepath.Join(dir, socket), "LC_ALL=C")}
}

// podman has a socket at which docker-compose speaks to it as to Docker.
func podman(t *testing.T) *engine {
	t.Helper()
	e := newEngine(t, "podman", "podman.sock")
	e.env = append(e.env, "CONTAINERS_CONF="+filepath.Join(e.dir, "containers.conf"), "CONTAINERS_STORAGE_CONF="+filepath.Join(e.dir, "storage.conf"))
	nofile, nproc := limits(t)
	e.write("containers.conf", fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=%d:%d\", \"nproc=%d:%d\"]\n[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nexit_command_delay = 20\nevents_logger = \"file\"\nlock_type = \"file\"\ntmp_dir = %q\n[network]\nnetwork_backend = \"netavark\"\nnetwork_config_dir = %q\n",
		nofile, nofile, nproc, nproc, filepath.Join(e.dir, "tmp"), filepath.Join(e.dir, "networks")))
	e.write("storage.conf", fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", filepath.Join(e.dir, "store"), filepath.Join(e.dir, "run")))
	t.Cleanup(func() {
		if out, err := e.try("podman", "rm", "-a", "-f", "-t", "20"); err != nil {
			t.Errorf("remove the containers: %v\n%s", err, out)
		}
		// The monitors of commands that were run inside wait a while for who asks how they ended.
		testkit.Eventually(t, "podman's monitors have ended", func() bool { return exec.Command("pgrep", "-f", "^/usr/bin/conmon .*"+e.dir).Run() != nil })
		_ = unix.Unmount(filepath.Join(e.dir, "store", "overlay"), unix.MNT_DETACH) // podman's own, of itself
	})
	e.serve("podman", "system", "service", "--time=0", "unix://"+filepath.Join(e.dir, "podman.sock"))
	return e
}

// docker is Docker's own daemon. It leaves the packet filter of this machine as it is, and
// makes no bridge but that of the network a test asks for.
func docker(t *testing.T) *engine {
	t.Helper()
	e := newEngine(t, "/usr/bin/docker", "docker.sock") // Debian's, which has BuildKit in itself
	nofile, nproc := limits(t)
	t.Cleanup(func() { // the namespaces of networks, which the daemon leaves mounted
		left, _ := filepath.Glob(filepath.Join(e.dir, "run", "netns", "*"))
		for _, path := range left {
			_ = unix.Unmount(path, unix.MNT_DETACH)
		}
	})
	e.serve("dockerd", "--data-root", filepath.Join(e.dir, "store"), "--exec-root", filepath.Join(e.dir, "run"), "--pidfile", filepath.Join(e.dir, "pid"),
		"--host", "unix://"+filepath.Join(e.dir, "docker.sock"), "--config-file", e.write("daemon.json", "{}"), "--bridge=none", "--iptables=false", "--ip-masq=false",
		"--default-ulimit", fmt.Sprintf("nofile=%d:%d", nofile, nofile), "--default-ulimit", fmt.Sprintf("nproc=%d:%d", nproc, nproc), "--log-level=warn")
	t.Cleanup(func() {
		all := strings.Fields(e.do(e.cli, "ps", "-aq"))
		if out, err := e.try(append([]string{e.cli, "rm", "-f"}, all...)...); len(all) > 0 && err != nil {
			t.Errorf("remove the containers: %v\n%s", err, out)
		}
	})
	return e
}

func (e *engine) with(t *testing.T) *engine { return &engine{t, e.cli, e.dir, e.env} }

// serve runs the program behind a socket until the test ends.
func (e *engine) serve(words ...string) (pid int) {
	e.t.Helper()
	server := exec.Command(words[0], words[1:]...)
	server.Env, server.SysProcAttr = e.env, &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	log, err := os.Create(filepath.Join(e.dir, "server.log"))
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	testkit.EventuallyNil(e.t, words[0]+" serves", func() error {
		out, err := e.try("docker-compose", "-f", filepath.Join(root, "deploy/compose/one.yaml"), "ps")
		if err != nil {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("%w: %s\n%s", err, out, said)
		}
		return nil
	})
	return server.Process.Pid
}

// limits are the most that this machine's root may give a container.
func limits(t *testing.T) (nofile, nproc uint64) {
	t.Helper()
	var files, processes unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &files), unix.Getrlimit(unix.RLIMIT_NPROC, &processes)); err != nil {
		t.Fatal(err)
	}
	return min(files.Max, 65536), min(processes.Max, 30000)
}

func (e *engine) write(name, content string) string {
	e.t.Helper()
	path := filepath.Join(e.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

func (e *engine) try(args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = e.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (e *engine) do(args ...string) string {
	e.t.Helper()
	out, err := e.try(args...)
	if err != nil {
		e.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// healthy waits until the image's own health check passes.
func (e *engine) healthy(name string) {
	e.t.Helper()
	testkit.EventuallyNil(e.t, name+" is healthy", func() error {
		if e.cli == "podman" { // which asks only as systemd's timers have it ask
			_, err := e.try("podman", "healthcheck", "run", name)
			return err
		}
		if state, err := e.try(e.cli, "inspect", "--format", "{{.State.Health.Status}}", name); err != nil || strings.TrimSpace(state) != "healthy" {
			return fmt.Errorf("%s %w", state, err)
		}
		return nil
	})
}
