/**
 * All values of a member at the top level of a JSON object, in order: legacy answers have `user_id` twice
 * (docs/interface.md §2.3), and `JSON.parse` keeps only the last. `json` must be valid JSON.
 */
export function readRepeatedMember(json: string, name: string): unknown[] {
  const quoted = JSON.stringify(name)
  if (json.indexOf(quoted, json.indexOf(quoted) + 1) < 0) return []
  const values: unknown[] = []
  let depth = 0
  let key: { isWanted: boolean; valueAt: number } | null = null
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    const isEnd = depth === 1 && (character === ',' || character === '}')
    if (isEnd && key?.isWanted === true) values.push(JSON.parse(json.slice(key.valueAt, at)))
    if (isEnd) key = null
    if (character === '"') {
      const end = findStringEnd(json, at)
      const isKey = depth === 1 && key === null
      if (isKey) {
        const isWanted = JSON.parse(json.slice(at, end + 1)) === name
        key = { isWanted, valueAt: json.indexOf(':', end) + 1 }
      }
      at = end
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }
  return values.length > 1 ? values : []
}

function findStringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1
    else if (json[at] === '"') return at
  }
  return json.length - 1
}
