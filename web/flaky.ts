import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { FullConfig, Reporter, Suite, TestCase } from '@playwright/test/reporter';

/**
 * Names the tests that passed only when they were tried again, one a line, each with what it
 * met at first: each is a fault to mend. Where there are none, there is no file.
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
    const names = flaky.map((test) => `${relative(this.#root, test.location.file)}:${test.location.line} ${test.title}${said(test)}`);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${names.join('\n')}\n`);
  }

  printsToStdio(): boolean {
    return false;
  }
}

/** The first lines of the first failure, with the line of the test where it was. */
function said(test: TestCase): string {
  const error = test.results.find(({ errors }) => errors.length > 0)?.errors[0];
  if (!error) return '';
  const text = (error.message ?? '').replaceAll(/\u001b\[\d+m/g, '');
  const lines = text.split('\n').map((line) => line.trim()).filter(Boolean);
  return `: line ${error.location?.line ?? '?'}: ${lines.slice(0, 5).join(' | ').slice(0, 300)}`;
}
