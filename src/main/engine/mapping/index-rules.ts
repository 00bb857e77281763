import { isDotSegment } from '../../../shared/service/endpoints.ts'
import { addProblem, type Found, type RowRule } from './found-problems.ts'
import { checkUrl } from './url-rule.ts'

/** At least one of url and media, both addresses (docs/interface.md §4.3). */
export const checkIndexMedia: RowRule = (found, row, { url, media }) => {
  const all =
    url === undefined && media === undefined
      ? addProblem(found, row, 'error', 'one_of', null, 'must have url or media', 'neither')
      : found
  return checkUrl(checkUrl(all, row, 'url', url), row, 'media', media)
}

/** A field that must be there (docs/interface.md §4.4, §4.7). */
export function createRequiredRule(field: string): RowRule {
  return (found: Found, row, body) => {
    const value = body[field]
    return value === undefined || value === ''
      ? addProblem(found, row, 'error', 'required', field, 'is required, and is empty')
      : found
  }
}

/** What would lead the request to another path is not an id of an appeal (docs/interface.md §4.7). */
export const checkAppealId: RowRule = (found, row, { appeal_id: id }) => {
  if (typeof id !== 'string' || !isDotSegment(id)) return found
  const message = 'must not be "." or "..", which would lead to another path'
  return addProblem(found, row, 'error', 'forbidden_character', 'appeal_id', message, id)
}
