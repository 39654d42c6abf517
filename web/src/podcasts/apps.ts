/** Programs that subscribe to a feed, and the address by which each is asked to, as its makers publish it. */
export interface App {
  name: string;
  href: string;
}

export function appsFor(feed: string, title: string): App[] {
  const bare = feed.replace(/^https?:\/\//, '');
  const whole = encodeURIComponent(feed);
  return [
    { name: 'Apple Podcasts', href: `podcast://${bare}` },
    { name: 'Overcast', href: `overcast://x-callback-url/add?url=${whole}` },
    { name: 'Pocket Casts', href: `pktc://subscribe/${bare}` },
    { name: 'AntennaPod', href: `https://antennapod.org/deeplink/subscribe?url=${whole}&title=${encodeURIComponent(title)}` },
  ];
}
