import { SluiceError } from '../../shared/messages/errors.ts'

/** The error for a setting that cannot be read: `BAD_USAGE`. */
export function toBadSetting(what: string, found: string, expected: string, hint: string): SluiceError {
  return new SluiceError({ code: 'BAD_USAGE', message: `${what} "${found}": expected ${expected}`, hint })
}
