import type { SchemaNode } from './schema-node.ts'

const ADDRESS = 'an http or https address without user name, password, query and fragment'

/** What a schema expects, for a sentence: `a whole number from 1 to 100`. */
export function describeSchema(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.enum !== undefined) return `one of ${node.enum.map((value) => JSON.stringify(value)).join(', ')}`
  if (node.oneOf !== undefined) {
    const kinds = node.oneOf.map((one) => JSON.stringify(one.properties?.['kind']?.const))
    return `an object whose kind is one of ${kinds.join(', ')}`
  }
  if (node.type === undefined) return (node.anyOf ?? []).map(describeSchema).join(' or ')
  switch (node.type) {
    case 'string':
      return describeText(node)
    case 'integer':
    case 'number':
      return describeNumber(node)
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    default:
      return 'an object'
  }
}

function describeText({ format, pattern, minLength = 0, maxLength }: SchemaNode): string {
  if (format === 'uri') return ADDRESS
  if (pattern !== undefined) return 'the name of an environment variable: letters, digits and underscores'
  if (minLength === 1 && maxLength === 1) return 'one character'
  return minLength > 0 ? 'text that is not empty' : 'text'
}

function describeNumber({ type, minimum, maximum, exclusiveMinimum }: SchemaNode): string {
  const noun = type === 'integer' ? 'a whole number' : 'a number'
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`
  if (minimum !== undefined && maximum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  return `${noun}${above}${minimum === undefined ? '' : ` of at least ${minimum}`}${maximum === undefined ? '' : `, at most ${maximum}`}`
}
