// Package arabic writes what the bulletin says in Modern Standard Arabic as an
// Egyptian announcer would: the time of day in words, the weather, numbers that
// agree with what they count. Every word carries its full tashkeel, because an
// offline voice drops short vowels that are not written.
//
// It is pure: it reads no clock, file or network, and chooses nothing by chance.
package arabic

// Gender of a noun. Numbers agree with it, some of them by opposition.
type Gender int

// The two genders.
const (
	Masculine Gender = iota
	Feminine
)

// Case is a noun's place in its sentence, heard in its ending.
type Case int

// The three cases: subject or predicate (رفع), object or exception (نصب),
// after a preposition or in a construct (جر).
const (
	Nominative Case = iota
	Accusative
	Genitive
)

// Noun is a thing that is counted, in the forms that numbers ask for.
type Noun struct {
	Gender   Gender
	Singular [3]string // indefinite, by case: دَقِيقَةٌ دَقِيقَةً دَقِيقَةٍ
	Dual     [2]string // nominative, and the other two cases
	Plural   string    // indefinite genitive, as after three to ten
}

// The nouns the bulletin counts.

func minute() Noun {
	return Noun{
		Feminine, [3]string{"دَقِيقَةٌ", "دَقِيقَةً", "دَقِيقَةٍ"},
		[2]string{"دَقِيقَتَانِ", "دَقِيقَتَيْنِ"}, "دَقَائِقَ",
	}
}

func degree() Noun {
	return Noun{
		Feminine, [3]string{"دَرَجَةٌ", "دَرَجَةً", "دَرَجَةٍ"},
		[2]string{"دَرَجَتَانِ", "دَرَجَتَيْنِ"}, "دَرَجَاتٍ",
	}
}

func kilometre() Noun {
	return Noun{
		Masculine, [3]string{"كِيلُومِتْرٌ", "كِيلُومِتْرًا", "كِيلُومِتْرٍ"},
		[2]string{"كِيلُومِتْرَانِ", "كِيلُومِتْرَيْنِ"}, "كِيلُومِتْرَاتٍ",
	}
}

// dual picks a dual by case: accusative and genitive sound alike.
func dual(forms [2]string, c Case) string {
	if c == Nominative {
		return forms[0]
	}
	return forms[1]
}
