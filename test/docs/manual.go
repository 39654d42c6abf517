// Package docs reads what the manuals say to type. Tests hold the commands to what there
// is: here to the sources, in internal/cli to the command line, in test/e2e to a station.
package docs

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Command is one that a manual says to type.
type Command struct {
	File   string // from the repository's root: docs/install.md
	Line   int
	Text   string   // on one line
	Fenced bool     // it stands in a block; else in a sentence or a table
	Cells  []string // of the table's row that it stands in
}

// Part is a command of a line with several, between | and &&.
type Part struct {
	Command
	Words []string // as a shell would split them, without variables before them
	Env   []string // those variables, NAME=value
}

// typed is what a manual has typed where nothing says that it is a command: in a sentence,
// or in a block of no language.
var typed = regexp.MustCompile(`^(ATHIR_\w+=\S+ )*(sudo -u athir )?(go (test|run) |make [a-z]|(bin/)?athir [a-z]|scripts/\S+\.sh|curl |sudo |systemctl |journalctl |df )`)

var (
	fence   = regexp.MustCompile("^\\s*```(\\w*)")
	inline  = regexp.MustCompile("`([^`]+)`")
	remark  = regexp.MustCompile(`\s+#\s.*$`)
	columns = regexp.MustCompile(`\s{3,}\S.*$`) // what a block of no language says beside a command
)

// Commands reads README.md and the pages of docs, in order.
func Commands(root string) (all []Command, err error) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			return nil, err
		}
		all = append(all, of(filepath.ToSlash(name), string(text))...)
	}
	return all, nil
}

// of reads one page.
func of(file, text string) (all []Command) {
	language, inside, open := "", false, ""
	begun, n := 0, 0
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		n++
		if m := fence.FindStringSubmatch(line); m != nil {
			inside, language, open = !inside, m[1], ""
			continue
		}
		indented := strings.HasPrefix(line, "    ") && typed.MatchString(strings.TrimSpace(line))
		if !inside && !indented {
			all = append(all, said(file, n, line)...)
			continue
		}
		if inside && language != "sh" && (language != "" || open == "" && !typed.MatchString(line)) {
			continue
		}
		line = strings.TrimSpace(line)
		if language == "" {
			line = columns.ReplaceAllString(line, "")
		}
		line = remark.ReplaceAllString(line, "")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if open == "" {
			begun = n
		}
		open = strings.TrimSpace(open + " " + strings.TrimSuffix(line, "\\"))
		if strings.HasSuffix(line, "\\") || strings.HasSuffix(line, "|") {
			continue
		}
		all = append(all, Command{File: file, Line: begun, Text: open, Fenced: true})
		open = ""
	}
	return all
}

// said are the commands within a line of text.
func said(file string, n int, line string) (all []Command) {
	var cells []string
	if strings.HasPrefix(line, "|") {
		cells = strings.Split(strings.Trim(line, "| "), " | ")
	}
	for _, m := range inline.FindAllStringSubmatch(line, -1) {
		if typed.MatchString(m[1]) {
			all = append(all, Command{File: file, Line: n, Text: m[1], Cells: cells})
		}
	}
	return all
}

// variable is one that is set before a command, or alone.
var variable = regexp.MustCompile(`^[A-Za-z_]\w*=`)

// Parts splits a line into its commands. A line that only sets variables has none.
func (c Command) Parts() (parts []Part) {
	words := Words(c.Text)
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == "&&" || w == ";" })
		one := words
		if words = nil; end >= 0 {
			one, words = one[:end], one[end+1:]
		}
		p := Part{Command: c}
		for len(one) > 0 && variable.MatchString(one[0]) {
			p.Env, one = append(p.Env, one[0]), one[1:]
		}
		for i, w := range one { // the words of a redirection are the shell's
			if strings.HasPrefix(w, ">") || w == "<" {
				one = one[:i]
				break
			}
		}
		if p.Words = one; len(one) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

// Words splits as a shell does, as far as manuals need it: quotation marks, and $( ) as one
// word.
func Words(line string) (words []string) {
	var word strings.Builder
	quote, depth, begun := rune(0), 0, false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote && depth == 0:
			quote = 0
		case quote != 0 && depth == 0:
			word.WriteRune(r)
		case (r == '\'' || r == '"') && depth == 0:
			quote, begun = r, true
		case r == '(':
			depth++
			word.WriteRune(r)
		case r == ')':
			depth--
			word.WriteRune(r)
		case r == ' ' && depth == 0:
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
		}
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// Athir are the arguments of a part that is a command of ours; false for any other.
func (p Part) Athir() (args []string, ours bool) {
	words := p.Words
	if len(words) > 2 && slices.Equal(words[:3], []string{"sudo", "-u", "athir"}) {
		words = words[3:]
	}
	if len(words) == 0 || words[0] != "athir" && words[0] != "bin/athir" {
		return nil, false
	}
	return words[1:], true
}
