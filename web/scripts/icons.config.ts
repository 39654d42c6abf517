import { defineConfig } from '@playwright/test';
import base from '../playwright.config';

export default defineConfig({ ...base, testDir: '.', testMatch: 'icons.ts', outputDir: '../test-results/icons', reporter: 'list', retries: 0 });
