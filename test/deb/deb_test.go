package deb

import (
	"archive/tar"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// pack builds a package with a stand-in for the program, which alone takes minutes.
func pack(t *testing.T, arch, described string) (path string) {
	t.Helper()
	readSources(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec true\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(root+"/scripts/deb.sh", arch)
	cmd.Env = append(os.Environ(), "BINARY="+program, "OUT="+dir, "DESCRIBED="+described)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/deb.sh: %v\n%s", err, text)
	}
	found, err := filepath.Glob(filepath.Join(dir, "athir_*_"+arch+".deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("scripts/deb.sh made %q: %v", found, err)
	}
	return found[0]
}

// readSources reads what packages are made of, so that the test cache knows of it: a script
// that this test runs is unknown to it.
func readSources(t *testing.T) {
	t.Helper()
	text(t, "scripts/deb.sh")
	for _, dir := range []string{"deploy", "docs"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) *archive {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(raw)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBothArchitecturesHoldWhatTheManualSays(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := read(t, pack(t, arch, "v1.2.3"))
		if !slices.Equal(a.order[:1], []string{"debian-binary"}) || len(a.order) != 3 {
			t.Errorf("%s: members %q: dpkg wants debian-binary, control and data", arch, a.order)
		}
		f := a.fields()
		for name, want := range map[string]string{"Package": "athir", "Version": "1.2.3", "Architecture": arch, "Section": "sound", "Priority": "optional"} {
			if f[name] != want {
				t.Errorf("%s: %s is %q, want %q", arch, name, f[name], want)
			}
		}
		for path, mode := range map[string]int64{
			"/usr/bin/athir": 0o755, "/etc/default/athir": 0o600, "/usr/lib/sysusers.d/athir.conf": 0o644,
			"/usr/share/man/man1/athir.1.gz": 0o644, "/usr/share/doc/athir/copyright": 0o644,
			"/usr/share/doc/athir/docs/install.md": 0o644, "/usr/share/doc/athir/athir.example.yaml": 0o644,
			"/usr/share/bash-completion/completions/athir": 0o644,
		} {
			got, ok := a.data[path]
			if !ok || got.mode != mode || got.owner != "root:root" {
				t.Errorf("%s: %s there: %v, mode %o of %s; want mode %o of root:root", arch, path, ok, got.mode, got.owner, mode)
			}
		}
		if l := a.data["/etc/athir/athir.yaml"]; l.kind != tar.TypeSymlink || l.link != "/var/lib/athir/athir.yaml" {
			t.Errorf("%s: /etc/athir/athir.yaml is %c to %q: the settings hold keys and are written by the first start", arch, l.kind, l.link)
		}
		for path := range a.data {
			if strings.HasPrefix(path, "/var/") {
				t.Errorf("%s: the package has %s: the station's state is no file of dpkg's", arch, path)
			}
		}
		if got := strings.TrimSpace(string(a.control["/conffiles"].content)); got != "/etc/default/athir" {
			t.Errorf("%s: conffiles are %q", arch, got)
		}
		for _, script := range []string{"/preinst", "/postinst", "/prerm", "/postrm"} {
			if a.control[script].mode != 0o755 {
				t.Errorf("%s: %s has mode %o", arch, script, a.control[script].mode)
			}
		}
		for _, unit := range units(t) {
			if _, ok := a.data["/lib/systemd/system/"+filepath.Base(unit)]; !ok {
				t.Errorf("%s: the package lacks %s", arch, unit)
			}
		}
	}
}

// What a source build installs and what the package depends on are one list.
func TestThePackageDependsOnWhatTheStationRuns(t *testing.T) {
	depends := map[string]bool{}
	for _, d := range strings.Split(read(t, pack(t, "amd64", "v1")).fields()["Depends"], ", ") {
		depends[strings.Fields(d)[0]] = true
	}
	// sox comes with liquidsoap, which alone runs it.
	wanted := []string{"ca-certificates", "init-system-helpers", "systemd", "tzdata"}
	for _, m := range regexp.MustCompile(`(?m)^\techo "[a-z ]+: +([a-z0-9 -]+)"$`).FindAllStringSubmatch(text(t, "scripts/deps.sh"), -1) {
		wanted = append(wanted, strings.Fields(m[1])...)
	}
	wanted = slices.DeleteFunc(wanted, func(p string) bool { return p == "sox" })
	slices.Sort(wanted)
	if got := slices.Sorted(maps.Keys(depends)); !slices.Equal(got, wanted) {
		t.Errorf("the package depends on\n%q\nand the station wants\n%q", got, wanted)
	}
}

// A version that dpkg orders wrongly is an upgrade that never comes.
func TestVersionsRiseAsRevisionsDo(t *testing.T) {
	last := ""
	for _, described := range []string{"v0.9.0-rc.1", "v0.9.0", "v1.2.0-rc1", "v1.2.0-rc1-7-gabcdef0", "v1.2.0", "v1.2.0-5-gabcdef0", "v1.2.0-5-gabcdef0-dirty", "v1.2.0-12-g0123456", "v1.2.1"} {
		version := read(t, pack(t, "amd64", described)).fields()["Version"]
		if err := exec.Command("dpkg", "--validate-version", version).Run(); err != nil {
			t.Errorf("%s becomes %s, which is no version: %v", described, version, err)
		}
		if last != "" && exec.Command("dpkg", "--compare-versions", last, "lt", version).Run() != nil {
			t.Errorf("%s becomes %s, which dpkg does not take for newer than %s", described, version, last)
		}
		last = version
	}
	if untagged := read(t, pack(t, "amd64", "abcdef0")).fields()["Version"]; exec.Command("dpkg", "--compare-versions", untagged, "lt", "0.0.1").Run() != nil {
		t.Errorf("a revision before any release becomes %s, which is newer than a release", untagged)
	}
}

func TestTheSameRevisionIsTheSamePackage(t *testing.T) {
	one, err := os.ReadFile(pack(t, "amd64", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(pack(t, "amd64", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	if string(one) != string(two) {
		t.Error("two builds of one revision differ")
	}
}

func TestMaintainerScriptsAreSoundShell(t *testing.T) {
	for _, name := range []string{"preinst", "postinst", "prerm", "postrm"} {
		path := filepath.Join(root, "deploy/debian", name)
		if out, err := exec.Command("sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if !strings.Contains(text(t, "deploy/debian/"+name), "\nset -e\n") {
			t.Errorf("%s goes on after a command that failed", name)
		}
	}
	if out, err := exec.Command("bash", "-n", filepath.Join(root, "deploy/debian/completion.bash")).CombinedOutput(); err != nil {
		t.Errorf("completion: %v\n%s", err, out)
	}
}
