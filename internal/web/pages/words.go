package pages

import (
	"fmt"

	"github.com/athir-radio/athir/internal/face"
)

// words are what heads say in a language; %s is the station's name.
type words struct {
	chat, history, studio, golive, social string
	live, chatAbout, socialAbout          string
	podcasts, podcastsAbout               string
	missing, missingText, home            string
	locale                                string
}

func wordsIn(language string) words {
	if language == face.English {
		return words{
			chat: "Chat", history: "Recently played", studio: "Studio", golive: "Go live", social: "From listeners",
			live: "%s, live on the air.", chatAbout: "The chat of %s’s listeners.", socialAbout: "Send what you made to %s, and hear what others sent.",
			podcasts: "Podcasts", podcastsAbout: "Shows of %s, to be heard at any time.",
			missing: "Page not found", missingText: "There is nothing at this address. It may have been moved or mistyped.", home: "Go to the home page",
			locale: "en_US",
		}
	}
	return words{
		chat: "الدردشة", history: "ما أُذيع", studio: "الاستوديو", golive: "بث مباشر", social: "من المستمعين",
		live: "استمع إلى %s على الهواء.", chatAbout: "دردشة مستمعي %s.", socialAbout: "أرسل ما سجلته ليُذاع على %s، واستمع إلى ما أرسله غيرك.",
		podcasts: "البودكاست", podcastsAbout: "برامج %s، تُسمع في أي وقت.",
		missing: "الصفحة غير موجودة", missingText: "لا شيء على هذا العنوان. ربما نُقلت الصفحة، أو في العنوان خطأ.", home: "إلى الصفحة الرئيسية",
		locale: "ar_AR",
	}
}

// title is that of a page in the first language.
func (p Page) title(f *face.Face) string {
	w := wordsIn(f.Language())
	switch p {
	case Player:
		return f.Title()
	case Chat:
		return w.chat + " · " + f.Title()
	case Studio:
		return w.studio + " · " + f.Title()
	case GoLive:
		return w.golive + " · " + f.Title()
	case Social:
		return w.social + " · " + f.Title()
	case "history.html":
		return w.history + " · " + f.Title()
	case Podcasts:
		return w.podcasts + " · " + f.Title()
	}
	return f.Title()
}

// about describes a page in the first language.
func (p Page) about(f *face.Face) string {
	w := wordsIn(f.Language())
	switch p {
	case Chat:
		return fmt.Sprintf(w.chatAbout, f.Title())
	case Social:
		return fmt.Sprintf(w.socialAbout, f.Title())
	case Podcasts:
		return fmt.Sprintf(w.podcastsAbout, f.Title())
	}
	return tagline(f)
}

// ours reports whether a page is for those who work at the station: their own style sheet and
// colour stay off it.
func (p Page) ours() bool { return p == Studio || p == GoLive }
