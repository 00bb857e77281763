import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { BUNDLED_CLI, PROJECT_FOLDER } from '../../helpers/build/bundles.ts'
import { checkDocuments } from './documents/check-documents.ts'

/** How a command line ended and what it wrote. */
export interface SluiceResult {
  code: number | null
  stdout: string
  stderr: string
}

/** How the command line is started. */
export interface SluiceOptions {
  workspace: string
  /** Where it is started; where the tests are unless given. */
  cwd?: string
  /** The user it runs as; the one of the tests unless given. */
  uid?: number
  gid?: number
  /** Start the sources instead of the bundle, which takes three times as long. */
  fromSources?: boolean
  /** Added to an environment that holds nothing of the caller's but the path. */
  env?: Record<string, string>
  /** Called with everything on stderr so far, whenever there is more. */
  onStderr?: (text: string, child: ChildProcess) => void
  /** The same for stdout. */
  onStdout?: (text: string, child: ChildProcess) => void
  /** Called once the process is running. */
  onStart?: (child: ChildProcess) => void
}

/** Runs the real command line as a process of its own and waits for its end. */
export function spawnSluice(args: readonly string[], options: SluiceOptions): Promise<SluiceResult> {
  return new Promise((resolve, reject) => {
    const entry = options.fromSources ? join(PROJECT_FOLDER, 'src/main/cli/main.ts') : BUNDLED_CLI
    const child = spawn(process.execPath, [entry, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
      env: {
        PATH: process.env['PATH'] ?? '',
        LANG: 'C.UTF-8',
        // The program is found compiled, as that of the tests is.
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
        SLUICE_WORKSPACE: options.workspace,
        ...options.env,
      },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      options.onStdout?.(stdout, child)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      options.onStderr?.(stderr, child)
    })
    child.once('error', reject)
    child.once('spawn', () => options.onStart?.(child))
    child.once('close', (code) => {
      try {
        checkDocuments(args, stdout)
        resolve({ code, stdout, stderr })
      } catch (error) {
        reject(error)
      }
    })
  })
}
