import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';

/**
 * Names the tests that passed only when they were tried again, one a line: each
 * is a fault to mend. Where there are none, there is no file.
 */
export default class Flaky implements Reporter {
  readonly #file: string;
  #root = '';
  #suite: Suite | undefined;

  constructor({ file }: { file: string }) {
    this.#file = file;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    this.#root = config.configFile ? dirname(config.configFile) : config.rootDir;
    this.#suite = suite;
    rmSync(this.#file, { force: true });
  }

  onEnd(): void {
    const flaky = (this.#suite?.allTests() ?? []).filter((test) => test.outcome() === 'flaky');
    if (flaky.length === 0) return;
    const names = flaky.map(({ location, title }) => `${relative(this.#root, location.file)}:${location.line} ${title}`);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${names.join('\n')}\n`);
  }

  printsToStdio(): boolean {
    return false;
  }
}
