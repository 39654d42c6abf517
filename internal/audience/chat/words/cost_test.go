package words_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/audience/chat/words"
)

// The dearest texts that may be sent, for each step of looking at them.
func BenchmarkDearestTexts(b *testing.B) {
	var all []words.Word
	for i := range 2000 {
		all = append(all, words.Word{Word: fmt.Sprintf("كلمة%d", i), Action: words.Block, Stem: true})
	}
	l, err := words.NewList(all)
	if err != nil {
		b.Fatal(err)
	}
	for what, s := range map[string]string{
		"letters": strings.Repeat("كلمة ", 400), "one word": strings.Repeat("كلم", 600), "marks": strings.Repeat("a\u0301", 8000), "joiners": strings.Repeat("👩\u200d", 2000),
		"singles": strings.Repeat("ا ", 1000), "dots": strings.Repeat("a.", 2000), "bidi": strings.Repeat("\u202ea\u200d", 2000),
	} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				text, ok := words.Text(s)
				if !ok {
					continue
				}
				l.Apply(text)
				words.HasLink(text)
			}
		})
	}
	r := words.NewReserved("أثير", nil)
	b.Run("name", func(b *testing.B) {
		for b.Loop() {
			r.Taken("أحمد محمد علي حسن إبراهيم")
		}
	})
}
