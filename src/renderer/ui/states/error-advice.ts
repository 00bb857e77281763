import type { ErrorGroup } from '../../../shared/run/run.ts'
import { adviceForProblem, isProblemCode } from './problem-advice.ts'

const BY_CODE: Record<string, string> = {
  INVALID_API_KEY: 'Check the API key and that it belongs to this address, then retry these rows.',
  PARAM_REQUIRED:
    'A field the service needs is missing or of the wrong type. Compare the request in a row’s details with the mapping.',
  INVALID_PARAM:
    'The service refuses a value. Open a row to see which, correct the file or the mapping, and send it again.',
  RATE_LIMITED: 'The service limits how fast you may send. Lower the concurrency and retry these rows.',
  INVALID_CUSTOM_INDEX: 'The custom index does not exist. Check its id under Operation.',
  INVALID_CUSTOM_INDEX_ITEM:
    'The index has no such item: it may have been removed before, or be in another index.',
  REQUIRE_AT_LEAST_ONE_PARAM: 'The row has no address of its media. Fill url or media.',
  INVALID_APPEAL: 'The service knows no appeal of this id. Check it.',
}

const DUPLICATE =
  'The service knows this post_id already: it was probably delivered before. Use {{run}}-{{row}} to send it anew.'

const BY_STATUS: Record<number, string> = {
  401: 'The service does not accept the API key. Check it, then retry these rows.',
  403: 'The service does not accept the API key for this. Check it, then retry these rows.',
  404: 'There is no such endpoint at this address. Check the base URL.',
  408: 'The service gave up waiting. Lower the concurrency and retry these rows.',
  413: 'The content is too large for the service. Shorten it.',
  429: 'The service limits how fast you may send. Lower the concurrency and retry these rows.',
}

const BY_OUTCOME: Record<ErrorGroup['outcome'], string> = {
  invalid: 'These rows were not sent. Correct the file or the mapping, and run it again.',
  rejected: 'The service answered with an error. Open a row to read its whole answer.',
  failed: 'Certainly not taken: check the address, the network and the proxy, then retry these rows.',
  unknown:
    'The service may or may not have taken these. Sending them again keeps the same body, and may double them.',
  overdue:
    'The service took these and their callbacks have not come. A late one still settles its row; see that the receiver’s address can be reached.',
}

const MAY_ADD_TWICE =
  'The service may have added these items. Sending them again may add them twice, so a retry asks for a typed word first.'

/** What a person can do about rows of an operation that ended so. */
export function adviceForError(
  group: Pick<ErrorGroup, 'outcome' | 'status' | 'error_code'>,
  operation: string,
): string {
  const isUnknown = group.outcome === 'unknown' || group.outcome === 'overdue'
  if (operation === 'index-add' && isUnknown) return MAY_ADD_TWICE
  if (group.outcome === 'invalid') {
    const code = group.error_code
    return code !== null && isProblemCode(code) ? adviceForProblem(code).fix : BY_OUTCOME.invalid
  }
  if (group.error_code !== null) {
    if (/duplicate|exists|unique/i.test(group.error_code)) return DUPLICATE
    const byCode = BY_CODE[group.error_code]
    if (byCode !== undefined) return byCode
  }
  if (group.status !== null) {
    const byStatus = BY_STATUS[group.status]
    if (byStatus !== undefined) return byStatus
    if (group.status >= 500)
      return 'The service had a fault of its own. Wait a little, then retry these rows.'
  }
  return BY_OUTCOME[group.outcome]
}
