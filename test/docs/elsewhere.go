package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Elsewhere is why a command is not run against a station of these tests.
type Elsewhere struct {
	File   string // empty: any
	Begins string // its first words; empty: whatever the page says
	Why    string
	Test   string // "package TestName" of what runs it, or the like of it, where there is one
}

const (
	packaged  = "test/deb TestSoakInstalledRebootedUpgradedAndPurged"
	contained = "test/deb TestSoakImageOnOneMachineAndOnThree"
)

// NotRun lists them. A new command of a manual is run by TestTheManualsCommandsRun in
// test/e2e, by a test named here, or not at all, for the reason said here.
var NotRun = []Elsewhere{
	{"", "sudo apt install ./athir_", "root; a machine that may be rebooted", packaged},
	{"", "sudo apt install", "root, and Debian's archive", ""},
	{"", "sudo systemctl", "root, and a booted systemd", packaged},
	{"", "systemctl", "a booted systemd", packaged},
	{"", "journalctl", "a booted systemd", packaged},
	{"", "sudo grep station_key", "root", packaged},
	{"", "git clone", "the network", ""},
	{"", "cd athir", "where git clone has put it", ""},
	{"docs/containers.md", "docker save", "a second machine", ""},
	{"docs/containers.md", "ssh", "another machine", ""},
	{"docs/containers.md", "cd deploy/compose", "where the compose files are", ""},
	{"docs/containers.md", "sudo setfacl", "root", ""},
	{"docs/containers.md", "docker compose", "an engine for containers, and root", contained},
	{"docs/containers.md", "sed -n", "of what docker compose prints", contained},
	{"docs/https.md", "sudo certbot", "root, and a name that leads to this machine", ""},
	{"docs/https.md", "sudo nginx", "root", "test/e2e TestHTTPSInFrontOfAStation"},
	{"docs/https.md", "sudo tee", "root", "test/e2e TestHTTPSInFrontOfAStation"},
	{"docs/https.md", "sed -e", "", "test/e2e TestHTTPSFrontsWithOneDoor"},
	{"docs/https.md", "curl -sI https://radio.example", "a public name", "test/e2e TestHTTPSInFrontOfAStation"},
	{"docs/https.md", "grep", "of what that prints", ""},
	{"docs/operate.md", "curl -sI https://radio.example", "a public name", "test/e2e TestHTTPSInFrontOfAStation"},
	{"docs/keys.md", "sed -n", "for another machine", ""},
	{"docs/keys.md", "ssh", "another machine", ""},
	{"docs/operate.md", "sudo ls", "root", ""},
	{"docs/operate.md", "sudo rsync", "another machine", ""},
	{"docs/operate.md", "ssh", "another machine", ""},
	{"docs/backup.md", "ssh", "another machine", ""},
	{"docs/install.md", "sudo adduser", "root", ""},
	{"docs/install.md", "sudo deluser", "root", ""},
	{"docs/install.md", "sudo setfacl", "root", ""},
	{"docs/install.md", "sudo rm", "root, and a station that nobody needs", ""},
	{"docs/install.md", "cp ~/Music", "music of your own", packaged},
	{"docs/live.md", "ffmpeg", "a presenter's account, and a sound card", "internal/live/desk/input TestEveryFormOfPushIsDecoded"},
	{"docs/uploads.md", "", "an upload is one story", "internal/audience/social/upload TestTheManualsLinesSendAFile"},
	{"docs/webhooks.md", "{", "a message that was sent", "internal/kit/webhooks TestTheManualsProgramsCheckWhatIsSent"},
	{"docs/webhooks.md", "openssl", "the same", "internal/kit/webhooks TestTheManualsProgramsCheckWhatIsSent"},
	{"docs/webhooks.md", "base64", "the same", "internal/kit/webhooks TestTheManualsProgramsCheckWhatIsSent"},
	{"docs/webhooks.md", "sed", "the same", "internal/kit/webhooks TestTheManualsProgramsCheckWhatIsSent"},
}

// Why is the entry that speaks of a part; -1 where none does.
func Why(p Part) int {
	text := strings.Join(p.Words, " ")
	return slices.IndexFunc(NotRun, func(e Elsewhere) bool {
		return (e.File == "" || e.File == p.File) && strings.HasPrefix(text, e.Begins)
	})
}

// runs are the commands of ours that are run against a station, by their first words. The
// others make files or take minutes, and have tests in internal/cli: of these the manual's
// words are parsed.
var runs = []string{
	"doctor", "rotation", "backup", "restore FILE --data /var/lib/athir --dry-run", "upgrade", "version", "alarm test", "content refresh --dry-run", "bulletin --say",
	"rotate station_key", "rotate --data",
}

// APIManuals are the pages whose examples TestManualsAreTrue in internal/web/api sends, one
// by one, and wants an example of every route in.
func APIManuals(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "internal", "web", "api", "docs_test.go"))
	if err != nil {
		return nil, err
	}
	var pages []string
	for _, m := range regexp.MustCompile(`"(?:\.\./\.\./\.\./docs/)?([\w-]+\.md)"`).FindAllStringSubmatch(string(text), -1) {
		pages = append(pages, "docs/"+m[1])
	}
	return pages, nil
}

// AtStation reports whether TestTheManualsCommandsRun in test/e2e runs a part.
func AtStation(p Part, api []string) bool {
	if args, ours := p.Athir(); ours {
		text := strings.Join(args, " ")
		return p.Fenced && slices.ContainsFunc(runs, func(r string) bool { return text == r || strings.HasPrefix(text, r+" ") }) || len(p.Cells) > 1 && strings.Contains(text, "--data /")
	}
	switch text := strings.Join(p.Words, " "); p.Words[0] {
	case "curl":
		return Why(p) < 0 && !slices.Contains(api, p.File) && (strings.Contains(text, "127.0.0.1") || strings.Contains(text, "$AT"))
	case "tar", "df":
		return true
	}
	return false
}
