import { join } from 'node:path'
import process from 'node:process'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { keepThreads, startThreadsFromBundles } from './test/helpers/build/bundles.ts'
import { keepFilesInMemory } from './test/helpers/build/files-in-memory.ts'
import { WALK_WAIT_MS } from './test/helpers/e2e/walk-wait.ts'
import { chooseShells } from './test/helpers/shells/choose-shells.ts'
import { SlowFirstSequencer } from './test/helpers/slow-first-sequencer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether `npm run test:long` runs: the long form of a proof that has a short one. */
    isLong: boolean
    /** Whether the executables of other systems are built, too, for which their Node is fetched: `npm run test:binary`. */
    everyTarget: boolean
    /** Whether all walks of the window and all flows of each shell run: `npm test` leaves some to the other runs. */
    walksAll: boolean
  }
}

// Tests start many processes and threads; all of them find the sources compiled, as those of the scripts do.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules', '.cache', 'compile')

// Where the tests have to be complete, a missing browser fails them; elsewhere they go on without and say so.
const shells = chooseShells()
const hasScreens =
  shells.some((shell) => shell.name === 'browser' && 'program' in shell) ||
  Boolean(process.env['CI'] && !process.env['SLUICE_SHELL'])

// What is named on the command line runs whole.
const isNamed = process.argv.slice(2).some((argument) => /e2e|shells/.test(argument))

const screens: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'screens',
    include: hasScreens ? ['test/e2e/**/*.test.ts'] : [],
    globalSetup: ['test/helpers/e2e/renderer-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: WALK_WAIT_MS } },
  },
}

// The same flows in each shell that this machine has.
const flows: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'shells',
    include: ['test/shells/**/*.test.ts'],
    globalSetup: ['test/helpers/shells/app-setup.ts'],
    testTimeout: 180_000,
  },
}

export default defineConfig(({ mode }) => ({
  // In the long form each run has threads of its own and its files on the disk, as in the product.
  plugins: [startThreadsFromBundles(), ...(mode === 'test' ? [keepThreads(), keepFilesInMemory()] : [])],
  test: {
    globalSetup: ['test/helpers/build/bundles-setup.ts'],
    pool: 'forks',
    // A process for each file would load the sources two hundred times. Tests leave nothing behind in theirs.
    isolate: false,
    // One more than cores: tests of screens, services and commands mostly wait for other processes.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: SlowFirstSequencer },
    provide: {
      isLong: mode === 'long' || mode === 'every-target',
      everyTarget: mode === 'every-target',
      walksAll: isNamed || mode === 'long' || mode === 'screenshots',
    },
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: ['test/e2e/**', 'test/shells/**'],
        },
      },
      screens,
      flows,
    ],
  },
}))
