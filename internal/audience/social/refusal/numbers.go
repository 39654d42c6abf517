package refusal

import (
	"fmt"
	"strconv"
	"time"
)

// englishTime is "0.2 s", "45 s", "10 minutes" or "12:31".
func englishTime(d time.Duration) string {
	if d < time.Minute-500*time.Millisecond {
		return seconds(d) + " s"
	}
	switch m, s := minutes(d); {
	case s == 0 && m == 1:
		return "1 minute"
	case s == 0:
		return strconv.Itoa(m) + " minutes"
	default:
		return fmt.Sprintf("%d:%02d", m, s)
	}
}

// arabicTime is the same; oblique after a preposition.
func arabicTime(d time.Duration, oblique bool) string {
	if d < time.Minute-500*time.Millisecond {
		text := seconds(d)
		n, err := strconv.Atoi(text)
		if err != nil { // a fraction
			return text + " ثانية"
		}
		return arabicCount(n, seconds3(), oblique)
	}
	m, s := minutes(d)
	if s == 0 {
		return arabicCount(m, minutes3(), oblique)
	}
	return fmt.Sprintf("%d:%02d دقيقة", m, s)
}

// seconds has two decimals below one and one below ten, where they say something.
func seconds(d time.Duration) string {
	step := time.Second
	switch {
	case d < 995*time.Millisecond:
		step = 10 * time.Millisecond
	case d < 10*time.Second-50*time.Millisecond:
		step = 100 * time.Millisecond
	}
	if step < time.Second {
		return strconv.FormatFloat(d.Round(step).Seconds(), 'f', -1, 64)
	}
	return strconv.Itoa(int(d.Round(time.Second) / time.Second))
}

func minutes(d time.Duration) (m, s int) {
	whole := int(d.Round(time.Second) / time.Second)
	return whole / 60, whole % 60
}

// counted are the forms of a counted noun.
type counted struct{ none, one, two, twoOblique, few, many, rest string }

func seconds3() counted {
	return counted{"0 ثانية", "ثانية واحدة", "ثانيتان", "ثانيتين", "ثوانٍ", "ثانية", "ثانية"}
}

func minutes3() counted {
	return counted{"0 دقيقة", "دقيقة واحدة", "دقيقتان", "دقيقتين", "دقائق", "دقيقة", "دقيقة"}
}

func letters3() counted {
	return counted{"0 حرف", "حرف واحد", "حرفان", "حرفين", "أحرف", "حرفًا", "حرف"}
}

func posts3() counted {
	return counted{"0 مشاركة", "مشاركة واحدة", "مشاركتان", "مشاركتين", "مشاركات", "مشاركة", "مشاركة"}
}

// arabicCount is a number with its noun in the form that the number asks for.
func arabicCount(n int, of counted, oblique bool) string {
	noun := of.rest
	switch last := n % 100; {
	case n == 0:
		return of.none
	case n == 1:
		return of.one
	case n == 2 && oblique:
		return of.twoOblique
	case n == 2:
		return of.two
	case last >= 3 && last <= 10:
		noun = of.few
	case last >= 11:
		noun = of.many
	}
	return strconv.Itoa(n) + " " + noun
}

func arabicLetters(n int64) string { return arabicCount(int(n), letters3(), false) }

func arabicPosts(n int64) string { return arabicCount(int(n), posts3(), false) }

func englishPosts(n int64) string {
	if n == 1 {
		return "1 post"
	}
	return number(n) + " posts"
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// megabytes are those of 1024² bytes, as file managers of phones nearly say.
func megabytes(n int64) string { return strconv.FormatInt((n+1<<20-1)>>20, 10) }

// percent rounds, but does not say 100 of what is not whole.
func percent(share float64) int { return min(int(share*100+0.5), 99) }

func englishShare(share float64) string {
	if share <= 0 || share >= 1 {
		return "All"
	}
	return strconv.Itoa(percent(share)) + " %"
}

func arabicShare(share float64) string {
	if share <= 0 || share >= 1 {
		return "كل"
	}
	return strconv.Itoa(percent(share)) + "٪ من"
}
