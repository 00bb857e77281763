import { SluiceError } from '../../../shared/messages/errors.ts'

/** The `BAD_SOURCE` error of a file that cannot be read as rows: what is wrong with it, and what to do. */
export function createSourceError(path: string, problem: string, hint: string, cause?: unknown): SluiceError {
  return new SluiceError({ code: 'BAD_SOURCE', message: `source ${path}: ${problem}`, hint, cause })
}
