package imaging

import "strings"

// Phrases are what the voice says, by kind. In each the station's name stands
// as {station}. Every word carries its tashkeel: the offline voice drops short
// vowels that are not written.
type Phrases map[Kind][]string

// stationMark stands for the station's name in a phrase.
const stationMark = "{station}"

// defaultPhrases are the station's own. Each is either the Arabic of newsreaders or
// that of Cairo, never a mixture of both.
func defaultPhrases() Phrases {
	return Phrases{
		Sweeper: {
			"أَنْتُمْ مَعَ {station}. مُوسِيقَى عَلَى مَدَارِ السَّاعَةِ.",
			"{station}. صَوْتٌ وَاحِدٌ يَجْمَعُنَا، مِنَ القَاهِرَةِ إِلَى العَالَمِ.",
			"خَلِّيكُمْ مَعَانَا. الأَحْلَى لِسَّه جَايّ، عَلَى {station}.",
			"مِنْ قَلْبِ القَاهِرَةِ، هُنَا {station}. إِذَاعَتُكُمْ عَلَى الإِنْتِرْنِتْ.",
			"اِرْفَعُوا الصَّوْتَ. الأُغْنِيَةُ القَادِمَةُ عَلَى {station}.",
			"فِي البِيتْ، وِفِي العَرَبِيَّة، وِفِي الشُّغْلْ. دَايْمًا {station}.",
			"لِكُلِّ وَقْتٍ أُغْنِيَةٌ، وَكُلُّ الأَغَانِي عَلَى {station}.",
			"نَعُودُ إِلَى المُوسِيقَى، وَأَنْتُمْ مَعَنَا عَلَى {station}.",
			"القَاهِرَةُ لَا تَنَامُ، وَ{station} مَعَهَا لَيْلَ نَهَارَ.",
			"أَغَانِي زَمَانْ، وِأَغَانِي النَّهَارْدَه. كُلَّهَا عَلَى {station}.",
			"اِسْمَعُوا بِقُلُوبِكُمْ. أَنْتُمْ عَلَى {station}.",
			"مِنَ النِّيلِ إِلَى كُلِّ مَكَانٍ، {station} عَلَى الهَوَاءِ.",
			"مُوسِيقَى أَكْثَرُ، وَكَلَامٌ أَقَلُّ. هُنَا {station}.",
			"صَبَاحُكُمْ وَمَسَاؤُكُمْ مُوسِيقَى. اِبْقَوْا مَعَ {station}.",
		},
		SongDrop: {
			"هَذِهِ الأُغْنِيَةُ، تَسْمَعُونَهَا عَلَى {station}.",
			"أُغْنِيَتُكُمُ المُفَضَّلَةُ، هُنَا عَلَى {station}.",
			"هِيَّ دِي المَزِيكَا. إِنْتُو مَعَ {station}.",
			"لَوْ بِتْحِبُّوا الأُغْنِيَّة دِي، خَلِّيكُمْ مَعَ {station}.",
			"أَحْلَى الأَغَانِي، عَلَى {station}.",
			"الأُغْنِيَةُ الَّتِي تُحِبُّونَهَا، مَكَانُهَا {station}.",
			"عَلِّي الصُّوتْ. إِنْتَ عَلَى {station}.",
			"وِلِسَّه الأَغَانِي مَاخِلْصِتْشْ. هِنَا {station}.",
			"كُلُّ مَا تُحِبُّونَ سَمَاعَهُ، عَلَى {station}.",
			"مِنْ أَوَّلِ نَغْمَةٍ، تَعْرِفُونَ {station}.",
			"تَسْمَعُونَهَا الآنَ، وَدَائِمًا، عَلَى {station}.",
			"مَعَ كُلِّ أُغْنِيَةٍ حِكَايَةٌ. أَنْتُمْ عَلَى {station}.",
		},
		VoiceDrop: {
			"{station}!",
			"مَعَكُمْ {station}!",
			"عَلَى الهَوَاءِ، {station}!",
			"هُنَا {station}!",
			"أَنْتُمْ عَلَى {station}!",
			"دَايْمًا {station}!",
			"يَالَّا، {station}!",
			"اِسْمَعْ {station}!",
			"عَلِّي الصُّوتْ! {station}!",
			"مَزِيكَا وِبَسّ. {station}!",
			"خَلِّيكْ مَعَ {station}!",
			"مِنَ القَاهِرَةِ، {station}!",
			"القَاهِرَةُ تَسْمَعُ {station}!",
		},
		ID: {
			"هُنَا {station}، مِنَ القَاهِرَةِ.",
			"{station}. صَوْتُ المَدِينَةِ.",
			"إِذَاعَةُ {station}، عَلَى الهَوَاءِ.",
			"أَنْتُمْ مَعَ {station}.",
			"{station}. عَلَى الأَثِيرِ.",
			"تَسْتَمِعُونَ إِلَى {station}.",
			"هُنَا القَاهِرَةُ، هُنَا {station}.",
			"{station}. إِذَاعَتُكُمْ.",
			"رَادْيُو {station}، مِنَ القَاهِرَةِ.",
			"{station}. مُوسِيقَى لَا غَيْرُ.",
			"مَعَكُمْ دَائِمًا، {station}.",
			"{station}. دَايْمًا مَعَاكُمْ.",
		},
	}
}

// or fills in the kinds that p has no phrases for.
func (p Phrases) or(q Phrases) Phrases {
	out := Phrases{}
	for kind, own := range q {
		out[kind] = own
		if len(p[kind]) > 0 {
			out[kind] = p[kind]
		}
	}
	return out
}

func withStation(phrase, station string) string {
	return strings.ReplaceAll(phrase, stationMark, station)
}
