import type { Echo } from '../../../shared/operations/operation-entry.ts'
import { OPERATIONS, type Operation, targetOf } from '../../../shared/operations/operations.ts'
import { foldEcho } from '../../../shared/service/alike-texts.ts'
import { isJsonObject, type JsonObject } from '../../../shared/service/json-object.ts'
import { JsonText } from '../mapping/json-text.ts'

/**
 * Whether an answer proves whose it is, by what it repeats of its request. `alike`: it repeats the id apart
 * from white space, case or Unicode normal form. `unverifiable`: it repeats nothing that tells rows apart.
 */
export type EchoFinding =
  | { kind: 'verified' | 'alike' | 'unverifiable' }
  | {
      kind: 'mismatched'
      field: string
      expected: string
      found: string
      /** Whether the found id is another row's of the run: answers were swapped. */
      isOfOtherRow: boolean
    }

export type EchoMismatch = Extract<EchoFinding, { kind: 'mismatched' }>

/** Code of a row whose answer or callback belongs to another request. */
export const ECHO_MISMATCH_CODE = 'ECHO_MISMATCH'

export const VERIFIED: EchoFinding = { kind: 'verified' }
const ALIKE: EchoFinding = { kind: 'alike' }
export const UNVERIFIABLE: EchoFinding = { kind: 'unverifiable' }

/** Whether an id that is not a row's own is another row's. */
export type HasOtherRow = (id: string) => boolean

/** The request's values of repeated fields, '' for each missing one; in the order of the echoes. */
export function toExpected(operation: Operation): (body: Readonly<Record<string, unknown>>) => string[] {
  const { echoes } = OPERATIONS[operation.kind]
  return (body) =>
    echoes.map(({ field }) => {
      const value = body[field]
      return toText(value instanceof JsonText ? value.toJSON() : value) ?? ''
    })
}

/** Compares what the parts of an answer or a callback repeat with what was sent. */
export function createEchoReader(
  operation: Operation,
  listParts: (body: unknown) => readonly unknown[],
  service: { hasOtherRow: HasOtherRow; isRewriting: () => boolean },
): (body: unknown, expected: readonly string[]) => EchoFinding {
  const { echoes: ofRow, batch } = OPERATIONS[operation.kind]
  const echoes = batch === undefined ? ofRow : [{ field: batch.target, isUnique: false }]
  const targets = batch === undefined ? null : [targetOf(operation) ?? '']
  return (body, expected) => {
    const own = targets ?? expected
    const parts = listParts(body).filter(isJsonObject)
    const [only] = parts
    if (only !== undefined && parts.length === 1) return readPart(only, echoes, own, service)
    const findings = parts.map((part) => readPart(part, echoes, own, service))
    const isOf = (kind: EchoFinding['kind']) => findings.find((finding) => finding.kind === kind)
    return isOf('mismatched') ?? isOf('alike') ?? isOf('verified') ?? UNVERIFIABLE
  }
}

function readPart(
  part: JsonObject,
  echoes: readonly Echo[],
  expected: readonly string[],
  { hasOtherRow, isRewriting }: { hasOtherRow: HasOtherRow; isRewriting: () => boolean },
): EchoFinding {
  let finding = UNVERIFIABLE
  for (let at = 0; at < echoes.length; at += 1) {
    const echo = echoes[at]
    const own = expected[at]
    if (echo === undefined || own === undefined || own === '') continue
    const value = part[echo.field]
    const found = echo.isText && typeof value !== 'string' ? null : toText(value)
    if (found === null || found === '') continue
    if (found === own) {
      if (echo.isUnique && finding === UNVERIFIABLE) finding = VERIFIED
      continue
    }
    const isOfOtherRow = echo.isUnique && hasOtherRow(found)
    if (isOfOtherRow || foldEcho(found) !== foldEcho(own)) {
      if (!isOfOtherRow && isRewriting()) continue
      return { kind: 'mismatched', field: echo.field, expected: own, found, isOfOtherRow }
    }
    finding = ALIKE
  }
  return finding
}

function toText(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : null
}

/** The mismatch in words; ids are quoted, so that rows with other ids count as the same cause. */
export function sayMismatch({ field, expected, found, isOfOtherRow }: EchoMismatch, what: string): string {
  const whose = isOfOtherRow ? ', which is that of another row of this run' : ''
  return `${what} names ${field} "${cutId(found)}"${whose}; the request named "${cutId(expected)}"`
}

function cutId(id: string): string {
  const plain = id.replaceAll('"', "'")
  return plain.length <= 100 ? plain : `${plain.slice(0, 99)}…`
}
