package podcast

import "strings"

// Categories are those of Apple Podcasts, which other directories follow, each as its feed names
// it; one within another as "News > Daily News".
func Categories() []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(categories)) {
		name, within, _ := strings.Cut(strings.TrimSpace(line), ": ")
		out = append(out, name)
		if within == "" {
			continue
		}
		for _, sub := range strings.Split(within, ", ") {
			out = append(out, name+" > "+sub)
		}
	}
	return out
}

// https://podcasters.apple.com/support/1691-apple-podcasts-categories
const categories = `
Arts: Books, Design, Fashion & Beauty, Food, Performing Arts, Visual Arts
Business: Careers, Entrepreneurship, Investing, Management, Marketing, Non-Profit
Comedy: Comedy Interviews, Improv, Stand-Up
Education: Courses, How To, Language Learning, Self-Improvement
Fiction: Comedy Fiction, Drama, Science Fiction
Government
Health & Fitness: Alternative Health, Fitness, Medicine, Mental Health, Nutrition, Sexuality
History
Kids & Family: Education for Kids, Parenting, Pets & Animals, Stories for Kids
Leisure: Animation & Manga, Automotive, Aviation, Crafts, Games, Hobbies, Home & Garden, Video Games
Music: Music Commentary, Music History, Music Interviews
News: Business News, Daily News, Entertainment News, News Commentary, Politics, Sports News, Tech News
Religion & Spirituality: Buddhism, Christianity, Hinduism, Islam, Judaism, Religion, Spirituality
Science: Astronomy, Chemistry, Earth Sciences, Life Sciences, Mathematics, Natural Sciences, Nature, Physics, Social Sciences
Society & Culture: Documentary, Personal Journals, Philosophy, Places & Travel, Relationships
Sports: Baseball, Basketball, Cricket, Fantasy Sports, Football, Golf, Hockey, Rugby, Running, Soccer, Swimming, Tennis, Volleyball, Wilderness, Wrestling
Technology
True Crime
TV & Film: After Shows, Film History, Film Interviews, Film Reviews, TV Reviews
`
