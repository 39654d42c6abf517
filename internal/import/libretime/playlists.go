package libretime

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// What a place of a playlist is (cc_playlistcontents.type).
const (
	aFile   = 0
	aStream = 1
	aBlock  = 2
)

// content is what is at a place of a playlist or block.
type content struct {
	place, id, kind     int
	file, block, stream string
}

// contents are those of all playlists or blocks, in order.
func (r *reading) contents(table, owner string) map[string][]content {
	out := map[string][]content{}
	for c := range r.db.each(table) {
		of := c.raw(owner)
		out[of] = append(out[of], content{c.int("position"), c.int("id"), c.int("type"), c.raw("file_id"), c.raw("block_id"), c.raw("stream_id")})
	}
	for of := range out {
		slices.SortStableFunc(out[of], func(a, b content) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.id, b.id)) })
	}
	return out
}

// mostItems bounds a playlist, as rotation does.
const mostItems = 20_000

// playlists are the playlists, with the times of the shows that load them by themselves, and
// then the smart blocks.
func (r *reading) playlists(prefs map[string]string) (out []model.Playlist) {
	blocks := map[string]row{}
	for b := range r.db.each("cc_block") {
		blocks[b.raw("id")] = b
	}
	in, within := r.contents("cc_playlistcontents", "playlist_id"), r.contents("cc_blockcontents", "block_id")
	intros := map[string]bool{prefs["intro_playlist"]: true, prefs["outro_playlist"]: true}
	for s := range r.db.each("cc_show") {
		intros[s.raw("intro_playlist_id")], intros[s.raw("outro_playlist_id")] = true, true
	}
	loaded := r.loaded()
	criteria := map[string][]row{}
	for c := range r.db.each("cc_blockcriteria") {
		criteria[c.raw("block_id")] = append(criteria[c.raw("block_id")], c)
	}
	for p := range r.db.each("cc_playlist") {
		id := p.raw("id")
		list := model.Playlist{ID: "playlist-" + id, Name: p.str("name"), Order: "sequence", Plays: "clock"}
		if block, only := oneBlock(in[id], blocks); only {
			smart(&list, criteria[block])
		} else {
			r.fill(&list, in[id], blocks, within)
		}
		schedule(&list, loaded[id])
		if intros[id] && id != "" {
			list.Notes = append(list.Notes, note("It was the intro or outro of shows; give it a time, or a place in a clock.", "كانت مقدمة برامج أو خاتمتها. حدّد لها موعدًا أو ضعها في قالب ساعة."))
		}
		out = append(out, list)
	}
	for b := range r.db.each("cc_block") {
		id := b.raw("id")
		list := model.Playlist{ID: "block-" + id, Name: b.str("name"), Order: "sequence", Plays: "clock"}
		if b.raw("type") == "static" {
			r.fill(&list, within[id], nil, nil)
		} else {
			smart(&list, criteria[id])
		}
		out = append(out, list)
	}
	return out
}

// oneBlock is the smart block that a playlist has at each of its places.
func oneBlock(all []content, blocks map[string]row) (id string, only bool) {
	for i, c := range all {
		b, known := blocks[c.block]
		if c.kind != aBlock || !known || b.raw("type") == "static" || i > 0 && c.block != id {
			return "", false
		}
		id = c.block
	}
	return id, len(all) > 0
}

// fill puts the tracks of a playlist into it. A block of fixed tracks is opened up; one that is
// made anew each time, and a stream, have no place in a list of tracks.
func (r *reading) fill(list *model.Playlist, all []content, blocks map[string]row, within map[string][]content) {
	lost, streams := 0, 0
	add := func(file string) {
		switch {
		case !r.tracks[file] || len(list.Items) == mostItems:
			lost++
		default:
			list.Items = append(list.Items, file)
		}
	}
	var smart []string
	for _, c := range all {
		switch b, known := blocks[c.block]; {
		case c.kind == aStream:
			streams++
		case c.kind == aBlock && known && b.raw("type") == "static":
			for _, t := range within[c.block] {
				add(t.file)
			}
		case c.kind == aBlock && known:
			if name := b.str("name"); !slices.Contains(smart, name) {
				smart = append(smart, name)
			}
		default:
			add(c.file)
		}
	}
	if len(smart) > 0 {
		list.Notes = append(list.Notes, note(
			fmt.Sprintf("It took tracks of smart blocks, which come over as playlists of their own: %s.", strings.Join(smart, ", ")),
			fmt.Sprintf("كانت تأخذ مقاطع من قوائم بحث (smart blocks)، وتُنقل هذه قوائم مستقلة: %s.", strings.Join(smart, "، "))))
	}
	if streams > 0 {
		list.Notes = append(list.Notes, note(plural(streams, "webstream", "webstreams")+" in it left out: a playlist holds tracks.", fmt.Sprintf("فيها روابط بث لا تُنقل، فالقائمة تضم مقاطع فقط. عددها: %d.", streams)))
	}
	if lost > 0 {
		list.Notes = append(list.Notes, note(plural(lost, "place is", "places are")+" left out: the tracks are not there any more.", fmt.Sprintf("مواضع لا تُنقل لأن مقاطعها لم تعد موجودة. عددها: %d.", lost)))
	}
}

// loaded are the shows that load a playlist by themselves, by playlist.
func (r *reading) loaded() map[string][]*show {
	out := map[string][]*show{}
	shows := r.ahead
	var ids []string
	hosted := map[string]bool{}
	for h := range r.db.each("cc_show_hosts") {
		hosted[h.raw("show_id")] = true
	}
	for id, s := range shows {
		ids = append(ids, id)
		if list := s.raw("autoplaylist_id"); s.bool("has_autoplaylist") && list != "" {
			out[list] = append(out[list], s)
		} else if !hosted[id] {
			r.leave("shows", 1, note("Nobody hosts them and no playlist fills them: they were laid out by hand.", "لا مقدّم لها ولا قائمة تملؤها، إذ كانت تُرتّب يدويًا."))
		}
	}
	slices.Sort(ids)
	for list := range out {
		slices.SortFunc(out[list], func(a, b *show) int {
			return cmp.Compare(slices.Index(ids, a.raw("id")), slices.Index(ids, b.raw("id")))
		})
	}
	return out
}

// schedule gives a playlist the times of the shows that load it.
func schedule(list *model.Playlist, shows []*show) {
	if len(shows) == 0 {
		return
	}
	repeats, names := 0, []string(nil)
	for _, s := range shows {
		if s.bool("autoplaylist_repeat") {
			repeats++
		}
		list.When = append(list.When, s.when...)
		names = append(names, s.name)
		for _, n := range s.notes {
			if !slices.Contains(list.Notes, n) {
				list.Notes = append(list.Notes, n)
			}
		}
	}
	list.Plays = "once"
	if repeats == len(shows) || list.Smart != "" { // a search has no end
		list.Plays = "only"
	} else if repeats > 0 {
		list.Notes = append(list.Notes, note("Some shows repeated it to their end; here it plays once from the start of each.", "كانت تُعاد حتى نهاية بعض البرامج، وهنا تُذاع مرة واحدة من بداية كل منها."))
	}
	if list.When = merged(list.When); len(list.When) > mostWindows {
		list.Notes = append(list.Notes, note(
			fmt.Sprintf("Of its %d times the first %d come over.", len(list.When), mostWindows), fmt.Sprintf("يُنقل من مواعيدها أول %d من أصل %d.", mostWindows, len(list.When))))
		slices.SortStableFunc(list.When, func(a, b rotation.Window) int { return cmp.Compare(a.From, b.From) })
		list.When = list.When[:mostWindows]
	}
	list.Notes = append(list.Notes, note("It was loaded by shows: "+strings.Join(names, ", ")+".", "كانت تُحمّل في برامج: "+strings.Join(names, "، ")+"."))
}

// smart says the criteria of a smart block: as text, and as far as the library can as a query.
// Criteria of one kind and group are alternatives; all others must hold together.
func smart(list *model.Playlist, criteria []row) {
	criteria = slices.Clone(criteria)
	slices.SortStableFunc(criteria, func(a, b row) int { return cmp.Compare(a.int("id"), b.int("id")) })
	list.Order = "shuffle" // by chance, which is what a block does unless it says otherwise
	var q catalog.Query
	var said, words, lost []string
	groups := map[string]string{} // of a kind, the group that the query has
	some := false
	for _, c := range criteria {
		kind, how, value := c.str("criteria"), c.str("modifier"), c.str("value")
		switch kind {
		case "sort":
			sorted(list, &q, value)
			continue
		case "limit":
			list.Notes = append(list.Notes, note(fmt.Sprintf("It gave at most %s %s at a time; here it goes on for as long as its time lasts.", value, how), fmt.Sprintf("أقصى ما كان يُذاع منها كل مرة: %s، وهنا تستمر طوال وقتها.", limit(value, how))))
			continue
		case "repeat_tracks", "overflow_tracks":
			continue
		}
		text := strings.TrimSpace(kind + " " + how + " " + strconv.Quote(value))
		if extra := c.str("extra"); extra != "" {
			text += " " + strconv.Quote(extra)
		}
		said = append(said, text)
		var facet *[]string
		switch kind {
		case "artist_name":
			facet = &q.Artist
		case "album_title":
			facet = &q.Album
		case "genre":
			facet = &q.Genre
		}
		group := c.raw("criteriagroup")
		taken, before := groups[kind]
		switch {
		case facet != nil && how == "is" && len(*facet) < 50 && (!before || taken == group):
			*facet, some, groups[kind] = append(*facet, value), true, group
		case how == "contains" && (facet != nil || kind == "track_title") && !before && len(strings.Join(words, " "))+len(value) < 150:
			words, some, groups[kind] = append(words, value), true, group
		default:
			lost = append(lost, text)
		}
	}
	list.Smart = strings.Join(said, "; ")
	if len(words) > 0 {
		q.Text = strings.Join(words, " ")
		list.Notes = append(list.Notes, note("Its words are looked for as the library's search does: in titles, artists and albums.", "البحث عن كلماتها كالبحث في المكتبة: في العناوين والفنانين والألبومات."))
	}
	if some {
		list.Query = &q
	}
	if len(lost) > 0 {
		list.Notes = append(list.Notes, note("The library cannot ask for this, which is left out: "+strings.Join(lost, "; ")+".", "شروط لا يعرفها بحث المكتبة، فلم تُنقل: "+strings.Join(lost, "؛ ")+"."))
	}
}

func limit(value, how string) string {
	switch how {
	case "hours":
		return value + " (بالساعات)"
	case "minutes":
		return value + " (بالدقائق)"
	case "items":
		return value + " (بعدد المقاطع)"
	}
	return "ما تبقى من البرنامج"
}

// sorted takes over the order of a smart block.
func sorted(list *model.Playlist, q *catalog.Query, by string) {
	switch by {
	case "newest":
		list.Order, q.Sort, q.Order = "sequence", catalog.ByAdded, "desc"
	case "oldest":
		list.Order, q.Sort = "sequence", catalog.ByAdded
	case "leastrecentplay":
		list.Order = "turns"
	case "mostrecentplay":
		list.Order = "turns"
		list.Notes = append(list.Notes, note("It began with what had aired last; here each track has its turn.", "كانت تبدأ بآخر ما أُذيع، وهنا لكل مقطع دوره."))
	}
}
