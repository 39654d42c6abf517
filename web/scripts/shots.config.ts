import { defineConfig } from '@playwright/test';
import base from '../playwright.config';

export default defineConfig({ ...base, testDir: '.', testMatch: '*shots.ts', outputDir: '../test-results/shots', reporter: 'list', retries: 0 });
