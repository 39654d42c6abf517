/** The reactions at hand, and the rest behind a button: each one grapheme of emoji presentation. */
export const atHand = ['❤️', '🔥', '👏', '😂', '🥹', '🎶'] as const;

export const all: readonly string[] = [
  '❤️', '🔥', '👏', '😂', '🥹', '🎶', '😍', '🥰', '😘', '🤩', '😎', '🥳', '😭', '😢', '😮', '🤯', '😴', '🙈',
  '👍', '👎', '🙌', '🙏', '💪', '🤝', '👋', '✌️', '🤲', '🫶', '💃', '🕺', '💔', '💯', '✨', '⭐', '🌙', '☀️',
  '🌹', '🌸', '🌊', '🌴', '🍃', '☕', '🎤', '🎧', '🎸', '🥁', '🎻', '🎺', '📻', '🕌', '🎉', '🎈', '🇪🇬', '🇵🇸',
];

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Whether a text is one emoji and nothing else. The station judges again, by Unicode's own list. */
export function isEmoji(text: string): boolean {
  return [...segments.segment(text)].length === 1 && /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{RI}/u.test(text);
}
