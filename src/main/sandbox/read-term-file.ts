import { readFile } from 'node:fs/promises'
import { SluiceError } from '../../shared/messages/errors.ts'
import { toThrownText } from '../../shared/messages/thrown.ts'
import type { StoredTerm } from './store/watchlist-store.ts'

/** Reads the terms of a UTF-8 text file: one a line, its notes after a tab; empty lines do not count. */
export async function readTermFile(path: string): Promise<StoredTerm[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new SluiceError({
      code: 'BAD_USAGE',
      message: `the terms in ${path} cannot be read: ${toThrownText(error)}`,
      hint: 'Name a text file with one term a line, its notes after a tab.',
      cause: error,
    })
  }
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [term = '', ...notes] = line.split('\t')
      return { term, notes: notes.length === 0 ? null : notes.join('\t') }
    })
}
