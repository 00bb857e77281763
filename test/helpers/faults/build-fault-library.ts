import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { PROJECT_FOLDER } from '../build/bundles.ts'
import { findCommand } from '../find-command.ts'

const SOURCE = join(import.meta.dirname, 'fail-calls.c')
const CACHE = join(PROJECT_FOLDER, 'node_modules/.cache/faults')

/** Why this machine cannot simulate failing file calls; null if it can. */
export function findWhyNoFaults(): string | null {
  if (process.platform !== 'linux') return 'only Linux preloads libraries this way'
  return findCompiler() === null ? 'there is no C compiler; install gcc, or name one in SLUICE_CC' : null
}

/**
 * Builds the library that makes file calls fail, unless it exists for the current source; returns its path.
 */
export function buildFaultLibrary(): string {
  const compiler = findCompiler()
  if (compiler === null) throw new Error('there is no C compiler')
  const key = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16)
  const library = join(CACHE, `fail-calls-${process.arch}-${key}.so`)
  if (existsSync(library)) return library
  mkdirSync(CACHE, { recursive: true })
  const draft = `${library}.${process.pid}`
  execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', draft, SOURCE, '-ldl'])
  renameSync(draft, library)
  return library
}

function findCompiler(): string | null {
  return findCommand('gcc', 'SLUICE_CC') ?? findCommand('cc', 'SLUICE_CC')
}
