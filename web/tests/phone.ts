import { chromium } from '../playwright.config';
import { test as base } from './fixtures';
import { Whip } from './mock/whip';

export const key = 'PUB00c0ffee.s3cret-of-the-evening-show';
export const link = `/go-live#k=${key}`;

/** The presenters' page on a stand-in of the WHIP server, whose peer answers in a second page. */
export const test = base.extend<{ whip: Whip }>({
  whip: async ({ browser }, use) => {
    const whip = new Whip();
    await whip.open();
    const peer = await browser.newContext();
    await whip.answerIn(await peer.newPage());
    await use(whip);
    await peer.close();
    await whip.close();
  },
  baseURL: async ({ whip }, use) => use(whip.url),
});

/** A phone. The wire between the two pages is on the loopback and needs the peer's own address and port. */
export const phone = (args: readonly string[] = []) => ({
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  launchOptions: { ...chromium, args: [...chromium.args, ...args, '--allow-loopback-in-peer-connection', '--disable-features=WebRtcHideLocalIpsWithMdns'] },
});
