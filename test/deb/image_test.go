package deb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

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

// composed is what a compose file says, as far as these tests read it.
type composed struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	PullPolicy  string            `yaml:"pull_policy"`
	Restart     string            `yaml:"restart"`
	Command     string            `yaml:"command"`
	NetworkMode string            `yaml:"network_mode"`
	Environment map[string]string `yaml:"environment"`
	EnvFile     string            `yaml:"env_file"`
	Volumes     []string          `yaml:"volumes"`
	Ports       []string          `yaml:"ports"`
	Ulimits     map[string]int    `yaml:"ulimits"`
	OOM         int               `yaml:"oom_score_adj"`
	Grace       string            `yaml:"stop_grace_period"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	CapAdd      []string          `yaml:"cap_add"`
	Security    []string          `yaml:"security_opt"`
	Privileged  bool              `yaml:"privileged"`
}

// compose reads a compose file as an engine would with the variables of no .env, but those
// that it must have.
func compose(t *testing.T, name string) (c composed) {
	t.Helper()
	must := map[string]string{"CONTROL": "control.example", "NODE": "node.example", "PUBLIC_ADDRESS": "203.0.113.7"}
	filled := regexp.MustCompile(`\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}`).ReplaceAllStringFunc(text(t, "deploy/compose/"+name), func(s string) string {
		m := regexp.MustCompile(`\$\{(\w+)(?::([-?])([^}]*))?\}`).FindStringSubmatch(s)
		switch {
		case m == nil:
			return "$"
		case m[2] == "-":
			return m[3]
		case must[m[1]] == "":
			t.Errorf("%s: %s has no value that it goes without", name, m[1])
		}
		return must[m[1]]
	})
	if err := yaml.Unmarshal([]byte(filled), &c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// Every container of the station is as confined as the package's unit of its role, runs
// what make image built, and keeps what must be kept.
func TestComposeFilesAreThePackagesUnits(t *testing.T) {
	roles := map[string]bool{}
	for _, name := range []string{"one.yaml", "three.yaml"} {
		c := compose(t, name)
		used := map[string]bool{}
		for of, s := range c.Services {
			where := name + ", " + of
			for _, v := range s.Volumes {
				used[strings.Split(v, ":")[0]] = true
			}
			if !s.ReadOnly || s.Privileged || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Security, []string{"no-new-privileges:true"}) || s.Restart != "unless-stopped" {
				t.Errorf("%s is not confined, or does not come back: %+v", where, s)
			}
			if s.NetworkMode != "host" || len(s.Ports) > 0 {
				t.Errorf("%s has the network %q and the ports %q: with the host's there are none to publish", where, s.NetworkMode, s.Ports)
			}
			if _, tag, ok := strings.Cut(s.Image, ":"); !ok || tag == "latest" {
				t.Errorf("%s: the image %q has no tag, or one that says nothing", where, s.Image)
			}
			if s.Image == "caddy:2" {
				continue
			}
			if s.Image != "athir:local" || s.PullPolicy != "never" || !strings.Contains(text(t, "scripts/image.sh"), " -t "+s.Image+" ") {
				t.Errorf("%s runs %s, pulled %s: not what make image builds", where, s.Image, s.PullPolicy)
			}
			role := s.Command
			if role == "" {
				role = "run"
			}
			roles[role] = true
			unit := text(t, "deploy/systemd/"+strings.TrimSuffix("athir-"+strings.TrimSuffix(role, "run"), "-")+".service")
			number := func(setting string) int {
				m := regexp.MustCompile(`(?m)^` + setting + `=(-?\d+)$`).FindStringSubmatch(unit)
				if m == nil {
					return 0
				}
				n, _ := strconv.Atoi(m[1])
				return n
			}
			nice := 0
			if n := number("LimitNICE"); n != 0 {
				nice = 20 - n // as setrlimit counts it
			}
			if s.Ulimits["nofile"] != number("LimitNOFILE") || s.Ulimits["nice"] != nice || s.OOM != number("OOMScoreAdjust") || s.Grace != fmt.Sprintf("%ds", number("TimeoutStopSec")) {
				t.Errorf("%s has other limits than the unit of %s: %v, oom_score_adj %d, grace %s", where, role, s.Ulimits, s.OOM, s.Grace)
			}
			kept := false
			for _, v := range s.Volumes {
				at := strings.Split(v, ":")[1]
				kept = kept || at == "/var/lib/athir"
				if !strings.Contains(instructions(t)["VOLUME"][0], `"`+at+`"`) {
					t.Errorf("%s puts a volume at %s, which is none of the image's", where, at)
				}
			}
			if !kept {
				t.Errorf("%s keeps its state nowhere", where)
			}
			var env []string
			for variable, value := range s.Environment {
				env = append(env, variable+"="+value)
			}
			taken(t, where, env)
			if s.EnvFile != "athir.env" {
				t.Errorf("%s reads the variables of %q", where, s.EnvFile)
			}
		}
		for volume := range c.Volumes {
			if !used[volume] {
				t.Errorf("%s: nobody uses the volume %s", name, volume)
			}
		}
	}
	for _, role := range []string{"run", "control", "node", "chat"} {
		if !roles[role] {
			t.Errorf("no compose file runs athir %s", role)
		}
	}
}

// Published are the ports of the settings that others reach, each as itself: links and
// phones have them from the settings.
func TestPublishedPortsAreThoseOfTheSettings(t *testing.T) {
	s := compose(t, "published.yaml").Services["athir"]
	var published []string
	for _, p := range s.Ports {
		outside, inside, _ := strings.Cut(p, ":")
		if plain, _, _ := strings.Cut(inside, "/"); plain != outside {
			t.Errorf("published.yaml: %s is published as another port", p)
		}
		published = append(published, inside)
	}
	slices.Sort(published)
	if want := all(doors(t), "turns"); !slices.Equal(published, want) { // turns has no certificate
		t.Errorf("published.yaml publishes %q, and the settings have %q", published, want)
	}
	if s.NetworkMode == "host" {
		t.Error("published.yaml leaves the station in the host's network")
	}
	var env []string
	for variable, value := range s.Environment {
		env = append(env, variable+"="+value)
	}
	taken(t, "published.yaml", env)
}

// The examples of variables are settings, and what .env may hold is in the manual.
func TestVariablesOfTheComposeFilesAreKnown(t *testing.T) {
	var env []string
	for line := range strings.Lines(text(t, "deploy/compose/athir.env")) {
		if name, value, ok := strings.Cut(strings.Trim(line, "#\n"), "="); ok {
			env = append(env, name+"="+value)
		}
	}
	if len(env) < 4 {
		t.Fatalf("athir.env has only the examples %q", env)
	}
	taken(t, "athir.env", env)
	manual := text(t, "docs/containers.md")
	for _, name := range []string{"one.yaml", "published.yaml", "three.yaml"} {
		for _, m := range regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(text(t, "deploy/compose/"+name), -1) {
			if strings.HasPrefix(m[1], "ATHIR_PORTS_") { // of the container's own shell
				continue
			}
			if !strings.Contains(manual, "`"+m[1]+"`") && !strings.Contains(manual, "\n"+m[1]+"=") {
				t.Errorf("%s: docs/containers.md says nothing of %s", name, m[1])
			}
		}
	}
}
