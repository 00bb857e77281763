import { indexAddRequestSchema, indexRemoveRequestSchema } from '../../shared/service/custom-index.ts'
import { isJsonObject, type JsonObject } from '../../shared/service/json-object.ts'
import { formatIssues } from './format-issues.ts'
import { SandboxRefusal } from './sandbox-errors.ts'

/** An item to add that keeps the rules. */
export interface CheckedIndexItem {
  url: string
  metadata: JsonObject | null
  contentVariant: string | null
  callbackUrl: string | null
}

/**
 * Checks an item to add (docs/interface.md §4.3). Refuses it with `REQUIRE_AT_LEAST_ONE_PARAM` where neither url nor
 * media is there, with `PARAM_REQUIRED` where a field has another type, with `INVALID_PARAM` where an address is none.
 * Of url and media, url counts where both are there.
 */
export function parseIndexAdd(value: unknown): CheckedIndexItem {
  const parsed = indexAddRequestSchema.safeParse(value)
  if (parsed.success) {
    const { url, media, metadata, content_variant, callback_url } = parsed.data
    return {
      url: url ?? media ?? '',
      metadata: metadata ?? null,
      contentVariant: content_variant ?? null,
      callbackUrl: callback_url ?? null,
    }
  }
  const { issues } = parsed.error
  const hasNoMedia = isJsonObject(value) && value['url'] === undefined && value['media'] === undefined
  const hasWrongType = issues.some((issue) => issue.code === 'invalid_type')
  if (hasNoMedia && !hasWrongType) {
    throw new SandboxRefusal('REQUIRE_AT_LEAST_ONE_PARAM', 'at least one of url and media is required')
  }
  throw new SandboxRefusal(hasWrongType ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
}

/**
 * Checks an item to remove (docs/interface.md §4.4). Refuses it with `PARAM_REQUIRED` where the identifier is missing
 * or has another type, with `INVALID_PARAM` where a rule is broken.
 */
export function parseIndexRemove(value: unknown): { itemId: string; callbackUrl: string | null } {
  const parsed = indexRemoveRequestSchema.safeParse(value)
  if (parsed.success) {
    return { itemId: parsed.data.custom_index_item_id, callbackUrl: parsed.data.callback_url ?? null }
  }
  const { issues } = parsed.error
  const hasWrongType = issues.some((issue) => issue.code === 'invalid_type')
  throw new SandboxRefusal(hasWrongType ? 'PARAM_REQUIRED' : 'INVALID_PARAM', formatIssues(issues, value))
}
