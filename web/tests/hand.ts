import type { Locator, Page } from '@playwright/test';
import { expect } from './fixtures';

/** What was done: fields filled, buttons pressed, files given; and how often the Tab key led there. */
interface Count {
  steps: number;
  tabs: number;
  /** After what nothing had the focus any more: one who sees no screen would be lost. */
  lost: string[];
}

/** An operator with a keyboard and no mouse, who counts what is done. */
export class Hand {
  #last = '';

  constructor(
    readonly page: Page,
    readonly count: Count = { steps: 0, tabs: 0, lost: [] },
  ) {}

  /** The same operator on another page. */
  on(page: Page): Hand {
    return new Hand(page, this.count);
  }

  /** Goes to an address. */
  async go(path: string): Promise<void> {
    this.count.steps++;
    this.#last = '';
    await this.page.goto(path);
  }

  /** Tabs to something, as one who sees where the focus is. */
  async reach(to: Locator): Promise<void> {
    await expect(to).toBeVisible();
    if (this.#last && (await this.page.evaluate(() => !document.activeElement || document.activeElement === document.body))) this.count.lost.push(this.#last);
    this.#last = '';
    for (let n = 0; n < 400; n++) {
      if (await to.evaluate((one) => one === document.activeElement).catch(() => false)) return;
      await this.page.keyboard.press('Tab');
      this.count.tabs++;
    }
    throw new Error(`the Tab key does not lead to ${to}`);
  }

  /** Presses a button, or follows a link. */
  async press(to: Locator): Promise<void> {
    await this.reach(to);
    await this.#do(`pressing ${to}`, () => this.page.keyboard.press('Enter'));
  }

  /** Fills a field. */
  async type(to: Locator, text: string): Promise<void> {
    await this.reach(to);
    await this.#do(`typing into ${to}`, async () => {
      await this.page.keyboard.press('Control+a');
      await this.page.keyboard.insertText(text);
    });
  }

  /** Fills a field for times of day. */
  async time(to: Locator, time: string): Promise<void> {
    await this.reach(to);
    await this.#do(`typing into ${to}`, () => this.page.keyboard.type(time.replace(':', '')));
    await expect(to).toHaveValue(time);
  }

  /** Chooses one of a list or a group, through which the arrow keys lead. */
  async choose(to: Locator, chosen: () => Promise<boolean>): Promise<void> {
    await this.reach(to);
    await this.#do(`choosing at ${to}`, async () => {
      for (let n = 0; n < 40 && !(await chosen()); n++) await this.page.keyboard.press('ArrowDown');
    });
    expect(await chosen()).toBe(true);
  }

  /** Presses a key where the focus is, so many times. */
  async key(name: string, times = 1): Promise<void> {
    await this.#do(`pressing ${name}`, async () => {
      for (let n = 0; n < times; n++) await this.page.keyboard.press(name);
    });
  }

  /** Gives a file to a button that asks for one. */
  async give(to: Locator, file: string): Promise<void> {
    const asked = this.page.waitForEvent('filechooser');
    await this.press(to);
    await (await asked).setFiles(file);
  }

  /** Drops files of the disk on the page, as a file manager does: what no keyboard can. */
  async drop(files: readonly string[]): Promise<void> {
    this.count.steps++;
    const devtools = await this.page.context().newCDPSession(this.page);
    const data = { items: [], files: [...files], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await devtools.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
    await devtools.detach();
  }

  async #do(what: string, work: () => Promise<void>): Promise<void> {
    this.count.steps++;
    await work();
    this.#last = what;
  }
}
