import { basename } from 'node:path'
import type { SourceWarning } from '../../../../shared/messages/problem-messages.ts'
import { isLeftBehind } from './walk-folder.ts'

/** Most names that a warning has. */
const NAMED_MAX = 3

/** Files and folders that were skipped: hidden ones, and those that programs and systems leave in folders. */
export class SkippedFiles {
  #count = 0
  /** The first that a person may have made, and the first of the others. */
  readonly #hidden: string[] = []
  readonly #leftBehind: string[] = []

  /** Paths of folders end in a slash. */
  note(path: string): void {
    this.#count += 1
    const named = isLeftBehind(basename(path)) ? this.#leftBehind : this.#hidden
    if (named.length < NAMED_MAX) named.push(path)
  }

  findWarnings(): SourceWarning[] {
    const files = this.#count
    if (files === 0) return []
    const named = [...this.#hidden, ...this.#leftBehind].slice(0, NAMED_MAX)
    const args = { files, names: named.join(', ').toWellFormed(), more: files - named.length }
    return [{ severity: 'warning', code: 'skipped_files', args, rows: files }]
  }
}
