package docs

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The firewall of the operator's chapter is that of the settings: every port is spoken of,
// and a row that names a port has its number.
func TestTheFirewallHasThePortsOfTheSettings(t *testing.T) {
	_, settings, _ := strings.Cut(read(t, "athir.example.yaml"), "\nports:\n")
	settings, _, _ = strings.Cut(settings, "\n\n")
	ports := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): (\d+)`).FindAllStringSubmatch(settings, -1) {
		ports[m[1]] = m[2]
	}
	if len(ports) < 14 {
		t.Fatalf("athir.example.yaml has only %d ports: has its form changed?", len(ports))
	}
	_, chapter, _ := strings.Cut(read(t, "docs/operate.md"), "\n## Firewall\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	for _, name := range slices.Sorted(maps.Keys(ports)) {
		if !regexp.MustCompile(`\b` + ports[name] + `\b`).MatchString(chapter) {
			t.Errorf("docs/operate.md, Firewall: says nothing of port %s, ports.%s", ports[name], name)
		}
	}
	named := 0
	for line := range strings.Lines(chapter) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		numbers := regexp.MustCompile(`\b\d{2,5}\b`).FindAllString(line, -1)
		for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(line, -1) {
			if port, ok := ports[m[1]]; ok {
				named++
				if !slices.Contains(numbers, port) {
					t.Errorf("docs/operate.md, Firewall: ports.%s is %s, and the row says %s", m[1], port, strings.TrimSpace(line))
				}
			}
		}
	}
	if named < 12 {
		t.Errorf("docs/operate.md, Firewall: only %d rows name their port: has its form changed?", named)
	}
}
