package doctor

import (
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/config"
)

// judgeKeys names the secrets of which an older one is good, too.
func judgeKeys(cfg *config.Config, now time.Time) Result {
	var old []string
	for _, r := range cfg.Rotations() {
		if r.Old != "" && now.Before(r.Until) {
			old = append(old, r.Name+" until "+r.Until.In(now.Location()).Format("2006-01-02 15:04 MST"))
		}
	}
	if len(old) == 0 {
		return well("no secret has an older one beside it")
	}
	return well("an older one is good, too: %s; give the new one to who holds that ('athir rotate' names them)", strings.Join(old, ", "))
}
