import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: Vitest takes its configuration by the default export
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/helpers/e2e/renderer-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
  },
})
