import { join } from 'node:path'
import process from 'node:process'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { startThreadsFromBundles } from './test/helpers/build/bundles.ts'
import { findChromium } from './test/helpers/e2e/find-chromium.ts'
import { SlowFirstSequencer } from './test/helpers/slow-first-sequencer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether `npm run test:long` runs: the long form of a proof that has a short one. */
    isLong: boolean
  }
}

// Tests start many processes and threads; all of them find the sources compiled, as those of the scripts do.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'compile')

// Where the tests have to be complete, a missing browser fails them; elsewhere it is said and they go on without.
const hasScreens = findChromium() !== null || Boolean(process.env['CI'])
if (!hasScreens) {
  process.stderr.write(
    'No Chromium is on the PATH, so the tests of the screens are left out; SLUICE_CHROMIUM can name one.\n',
  )
}

const screens: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'screens',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/helpers/e2e/renderer-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
}

// The app as it is installed, started as a person does: only where one was packed and named.
const packaged: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'packaged',
    include: ['test/packaged/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
}

export default defineConfig(({ mode }) => ({
  plugins: [startThreadsFromBundles()],
  test: {
    globalSetup: ['test/helpers/build/bundles-setup.ts'],
    pool: 'forks',
    // A process for each file would load the sources two hundred times. Tests leave nothing behind in theirs.
    isolate: false,
    // One more than cores: tests of screens, services and commands mostly wait for other processes.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    sequence: { sequencer: SlowFirstSequencer },
    provide: { isLong: mode === 'long' },
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: ['test/e2e/**', 'test/packaged/**'],
        },
      },
      ...(hasScreens ? [screens] : []),
      ...(process.env['SLUICE_PACKAGED_APP'] ? [packaged] : []),
    ],
  },
}))
