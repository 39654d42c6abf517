import { describe, expect, it } from 'vitest';
import { namesOf } from './names';

const of = (file: string, category: string, title = 'Break', artist = 'Break', language: 'ar' | 'en' = 'en') => namesOf({ file, category, type: category, title, artist }, language);

describe('what the studio calls an entry', () => {
  it('is the readable name of the file where title and artist say nothing', () => {
    expect(of('sweepers/SWP_VOX_20260406T130507_6ef99803.mp3', 'sweepers')).toEqual({ title: 'Sweeper over a song · 6ef9', artist: '' });
    expect(of('sweepers/SWP_INTRO_20260406T130507_6ef99803.mp3', 'sweepers', 'Break', 'Break', 'ar').title).toBe('فاصل بافتتاحية · 6ef9');
    expect(of('sweepers/SWP_DROP_VOICE_20260406T130507_0a99f803_1.mp3', 'sweepers').title).toBe('Voice drop · 0a99 1');
    expect(of('sweepers/SWP_DROP_SONG_1.mp3', 'sweepers').title).toBe('Drop on a song · 1');
    expect(of('sweepers/ID_7.mp3', 'sweepers', 'Break', '').title).toBe('Station ID · 7');
    expect(of('news/NEWS_1795906017987.mp3', 'news').title).toBe('News bulletin');
    expect(of('sfx/SFX_RISER_DOWN_20260406T130507_6ef99803.mp3', 'sfx').title).toBe('Effect: riser down · 6ef9');
    expect(of('jingles/Morning_show_open.mp3', 'jingles').title).toBe('Morning show open');
    expect(of('ads/coffee house.mp3', 'ads', 'Athir', 'Athir').title).toBe('coffee house');
  });

  it('is its own title and artist everywhere else', () => {
    expect(of('english/x.mp3', 'english', 'Break', 'Break')).toEqual({ title: 'Break', artist: 'Break' });
    expect(of('sweepers/x.mp3', 'sweepers', 'صوت أثير', '')).toEqual({ title: 'صوت أثير', artist: '' });
    expect(of('english/x.mp3', 'english', 'Break', 'Somebody')).toEqual({ title: 'Break', artist: 'Somebody' });
    expect(namesOf({ file: 'a/b/SWP_VOX_1.mp3', title: 'Break' }, 'en').title).toBe('Sweeper over a song · 1');
    expect(namesOf({ file: 'english/Slow_River.mp3' }, 'en')).toEqual({ title: 'Slow River', artist: '' });
  });
});
