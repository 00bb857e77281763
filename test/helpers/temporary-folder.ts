import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, onTestFinished, vi } from 'vitest'

/**
 * Creates an empty folder that is removed with its content when the current test ends. Call it inside a test.
 */
export function createTemporaryFolder(): string {
  const folder = makeFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Runs a function with an empty folder that is always removed afterwards; for use outside of tests. */
export async function withTemporaryFolder<Result>(
  use: (folder: string) => Result | Promise<Result>,
): Promise<Result> {
  const folder = makeFolder()
  try {
    return await use(folder)
  } finally {
    removeFolder(folder)
  }
}

/** Gives each test of a file its own folder for temporary files, else shared with other test processes. */
export function keepTemporaryFilesApart(): void {
  beforeEach(() => {
    const folder = makeFolder()
    vi.stubEnv('TMPDIR', folder)
    return () => {
      vi.unstubAllEnvs()
      removeFolder(folder)
    }
  })
}

function makeFolder(): string {
  // The temporary folder itself may be a symbolic link, as on macOS; tests compare full paths.
  return mkdtempSync(join(realpathSync(tmpdir()), 'sluice-test-'))
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
