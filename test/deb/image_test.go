package deb

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
)

// instructions are those of the Containerfile, by their word.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	whole := strings.ReplaceAll(text(t, "deploy/container/Containerfile"), "\\\n", " ")
	for line := range strings.Lines(whole) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && word != "#" {
			out[word] = append(out[word], strings.Join(strings.Fields(rest), " "))
		}
	}
	return out
}

// doors are the ports of the settings that others than this machine reach, as EXPOSE
// spells them, by name.
func doors(t *testing.T) map[string][]string {
	t.Helper()
	_, section, _ := strings.Cut(text(t, "athir.example.yaml"), "\nports:\n")
	section, _, _ = strings.Cut(section, "\n\n")
	out := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): (\d+) +# (.*)$`).FindAllStringSubmatch(section, -1) {
		if strings.Contains(m[3], "(loopback)") || m[1] == "nats" {
			continue
		}
		if out[m[1]] = []string{m[2]}; m[1] == "media" || m[1] == "turn" {
			out[m[1]] = append(out[m[1]], m[2]+"/udp")
		}
	}
	if len(out) < 11 {
		t.Fatalf("athir.example.yaml has only %d ports for others: has its form changed?", len(out))
	}
	return out
}

func all(doors map[string][]string, but string) (ports []string) {
	for name, spelt := range doors {
		if name != but {
			ports = append(ports, spelt...)
		}
	}
	slices.Sort(ports)
	return ports
}

// taken fails where a variable is no setting, or not with this value.
func taken(t *testing.T, where string, env []string) {
	t.Helper()
	dir := t.TempDir()
	keys := "station_key: key-of-tests\nsync_token: key-of-tests\nsource_password: key-of-tests\nturn_secret: key-of-tests\n"
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(config.Source{DataDir: dir, Env: env})
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	for _, warning := range cfg.Warnings {
		if strings.Contains(warning, "environment") {
			t.Errorf("%s: %s", where, warning)
		}
	}
}

// The image is the package, with its user, its folders and the ports of the settings.
func TestTheImageIsThePackage(t *testing.T) {
	have := instructions(t)
	for word, want := range map[string]string{
		"FROM": "debian:12-slim", "USER": "athir", "WORKDIR": "/var/lib/athir", "STOPSIGNAL": "SIGTERM",
		"VOLUME": `["/var/lib/athir", "/srv/music"]`, "ENTRYPOINT": `["tini", "--", "athir"]`, "CMD": `["run"]`,
	} {
		if !slices.Equal(have[word], []string{want}) {
			t.Errorf("%s is %q, want %q", word, have[word], want)
		}
	}
	// Nothing beside the package, whose dependencies are its own, but an init and what asks
	// for the health.
	m := regexp.MustCompile(`apt-get install -y --no-install-recommends ([^&]*) &&`).FindStringSubmatch(strings.Join(have["RUN"], "\n"))
	if len(have["RUN"]) != 1 || m == nil || m[1] != "/mnt/athir.deb tini curl" {
		t.Errorf("RUN installs %q", m)
	}
	exposed := strings.Fields(strings.Join(have["EXPOSE"], " "))
	slices.Sort(exposed)
	if want := all(doors(t), ""); !slices.Equal(exposed, want) {
		t.Errorf("EXPOSE says %q, and the settings have for others %q", exposed, want)
	}
	if !strings.Contains(text(t, "deploy/debian/sysusers.conf"), "\nu athir - ") {
		t.Error("the package makes another user than the image, or wants a number for it")
	}
	taken(t, "ENV", strings.Fields(strings.Join(have["ENV"], " ")))
}
