import { isJsonObject } from '../../../shared/service/json-object.ts'
import { findModel } from '../../../shared/service/models.ts'

/** Before the names of the requested models in the row keys of a v2 task; no id can begin with it. */
const MODELS_KEY = '\0models\0'

/** The row key for the models that a request names; none for no models. */
export function toModelsKeys(models: unknown): string[] {
  return Array.isArray(models) && models.length > 0 ? [MODELS_KEY + models.join('\0')] : []
}

/** Members that repeat what was sent. */
const REPEATED = new Set(['content_metadata', 'user_metadata', 'metadata'])

const DEPTH_MAX = 8

/**
 * The requested models that a v2 answer says nothing of. None if it does not name models as the request does:
 * its shape is not documented (docs/interface.md §4.2), so no name may stand for a model in it.
 */
export function findMissingModels(body: unknown, rowKeys: readonly string[]): string[] {
  const key = rowKeys.find((one) => one.startsWith(MODELS_KEY))
  if (key === undefined) return []
  const missing = new Set(key.slice(MODELS_KEY.length).split('\0'))
  return dropNamed(body, missing, 0) ? [...missing] : []
}

/**
 * Drops the names that an answer has as a key or a value; returns whether it names any model as such. A text
 * that is no `model` may be about the content, such as a `type` of "text".
 */
function dropNamed(value: unknown, missing: Set<string>, depth: number): boolean {
  if (depth > DEPTH_MAX) return false
  if (Array.isArray(value)) {
    return value.map((item) => dropNamed(item, missing, depth + 1)).includes(true)
  }
  if (!isJsonObject(value)) return false
  let isNaming = false
  for (const [name, inner] of Object.entries(value)) {
    if (REPEATED.has(name)) continue
    if (typeof inner === 'string') {
      const isRequested = missing.delete(inner)
      isNaming ||= name === 'model' && (isRequested || findModel(inner) !== null)
    } else if (typeof inner === 'object' && inner !== null) {
      isNaming = missing.delete(name) || isNaming
      isNaming = dropNamed(inner, missing, depth + 1) || isNaming
    }
  }
  return isNaming
}
