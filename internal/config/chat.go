package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Chat configures comments and chat rooms.
type Chat struct {
	Rooms    []string `koanf:"rooms"`    // id=name
	Reserved []string `koanf:"reserved"` // names of the staff
	Welcome  string   `koanf:"welcome"`
	KeepDays int      `koanf:"keep_days"`
	MediaMB  int      `koanf:"media_mb"`
}

// ChatRoom is a room of the chat and its name.
type ChatRoom struct{ ID, Name string }

var chatRoom = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// mostRooms is how many rooms a station may have.
const mostRooms = 50

// RoomList reads the rooms; the error names the first that is wrong.
func (c Chat) RoomList() ([]ChatRoom, error) {
	var out []ChatRoom
	seen := map[string]bool{"comments": true}
	for _, line := range c.Rooms {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "=")
		name = strings.TrimSpace(name)
		if !chatRoom.MatchString(id) || seen[id] || name == "" || len(name) > 100 || !oneLine(name) {
			return nil, fmt.Errorf("chat.rooms: %q must be id=name, as in \"main=الصالة\"; an id has a-z, 0-9 and -, is used once, and is not comments", line)
		}
		seen[id] = true
		out = append(out, ChatRoom{id, name})
	}
	if len(out) == 0 || len(out) > mostRooms {
		return nil, fmt.Errorf("chat.rooms: must hold 1 to %d rooms", mostRooms)
	}
	return out, nil
}

func (c Chat) validate() (wrong []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	_, err := c.RoomList()
	check(err == nil, "%v", err)
	for _, name := range c.Reserved {
		check(strings.TrimSpace(name) != "" && len(name) <= 200 && oneLine(name), "chat.reserved: %q must be a name of at most 200 bytes", name)
	}
	check(len(c.Reserved) <= 200, "chat.reserved: must hold at most 200 names")
	check(len(c.Welcome) <= 1000 && oneLine(c.Welcome), "chat.welcome: must be one line of at most 1000 bytes")
	check(c.KeepDays >= 1 && c.KeepDays <= 3650, "chat.keep_days: must be 1 to 3650")
	check(c.MediaMB >= 16 && c.MediaMB <= 1_000_000, "chat.media_mb: must be 16 to 1000000")
	return wrong
}

// ChatMediaDir holds the voice notes and pictures of the chat.
func (c *Config) ChatMediaDir() string { return filepath.Join(c.DataDir, "chat", "media") }
