import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, onTestFinished, vi } from 'vitest'

/** Makes an empty folder that is removed, with all in it, when the running test is over. Call it inside a test. */
export function createTemporaryFolder(): string {
  const folder = makeFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Runs a function with an empty folder that is removed afterwards, whatever became of it; for use outside a test. */
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

/** Gives each test of a file a folder of its own for temporary files, which else has those of other test processes, too. */
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
  // The temporary folder itself may be a symbolic link, as on macOS; tests compare whole paths.
  return mkdtempSync(join(realpathSync(tmpdir()), 'sluice-test-'))
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
