import type { z } from 'zod'
import type { Mode } from '../service/endpoints.ts'
import type { RequestField } from '../service/request-field.ts'
import type { Subject } from './subjects.ts'

export type RowCheck =
  | { rule: 'required' | 'blank' | 'address' | 'object' | 'path segment'; field: string }
  | { rule: 'length'; field: string; max: number }
  | { rule: 'one of'; one: string; other: string }

/** A request field that an answer or a callback repeats at its top level under the same name. */
export interface Echo {
  field: string
  /** Whether it is unique in a run, so that it tells which row an answer belongs to. */
  isUnique: boolean
  /** Whether only a text counts as an echo: a number is an id of the service. */
  isText?: boolean
}

/** An error that docs/interface.md §7.1 documents for an operation. */
export interface ShownError {
  status: number
  errorCode: string
  /** When the service answers with it. */
  condition: string
  /** False for contradictory pairings (docs/interface.md §7.2); a client must accept both (default: true). */
  consistent?: false
}

/** An operation without its schemas: everything that depends on its settings and names. */
export interface OperationTraits<Own, Scratch> {
  /** Initial settings. */
  first: Own
  subject: Subject
  /** Every field that a column or template may fill, in the order of the interface. */
  fields: readonly RequestField[]
  /** Fields that identify a row for a person; the first filled one counts. */
  namedBy: readonly [string, ...string[]]
  /**
   * Lists of fields that together recognize a row when it is sent again; the first list that a row fills
   * counts. Rows with different ids are different; rows with the same contents are only alike. Absent if
   * sending again only asks again.
   */
  recognizedBy?: { ids: readonly (readonly string[])[]; contents?: readonly (readonly string[])[] }
  /** Fills a field that the mapping leaves open. */
  defaults?: Readonly<Record<string, { kind: 'template'; template: string }>>
  /** Checks of a row's body, in the order of the listed problems. Checks of tasks depend on their options. */
  checks: readonly RowCheck[]
  endpoint: {
    method: 'POST' | 'GET'
    /** `row` is the body of the row for a GET; a POST has the same path for every row. */
    path(operation: Own, row: Readonly<Record<string, unknown>>): string
    sendsKey: boolean
  }
  /** Whether a request without an answer may be sent again, although the service may have accepted it. */
  isRepeatable: boolean
  /** The errors that the interface documents for it. */
  errors: readonly ShownError[]
  /**
   * Fields that an answer or a callback may repeat; a missing one proves nothing. A request with several rows
   * repeats its target and its rows, as {@link batch} names them.
   */
  echoes: readonly Echo[]
  /** Absent if answers never come as callbacks. */
  modeOf?(operation: Own): Mode
  /** The index or watchlist that every row goes to. */
  target?: {
    /** Targets of the same kind can stand for each other. */
    kind: 'index' | 'watchlist'
    of(operation: Own): string
    with(operation: Own, name: string): Own
    /** What to do if it is missing. */
    missing: string
  }
  /** For requests with several rows: the body's members with the target and with the rows. */
  batch?: { target: string; list: string; rowsPerItem(operation: Own): number }
  /** For operations that can clear notes: the effect of an empty notes cell. */
  emptyNotesOf?(operation: Own): 'keep' | 'clear'
  /** The ledger that its runs contribute to, and their effect on an entry. */
  ledger?: { of: 'index' | 'watchlist' | 'appeals'; effect: 'adds' | 'removes' | 'updates' | 'reads' }
  words: {
    /** The title on its card. */
    title: string
    /** The command of the command line. */
    command: string
    /** Its effect on a row, as a sentence. */
    meaning: string
    /** Its settings in a few words. */
    describe(operation: Own): string
    /** Its effect on rows, as in "It adds 20 rows". */
    verb: string
    /** The effect of a single request, as in "The request adds an item to an index". */
    single: string
    /** The name of the count of its succeeded rows. */
    done?: string
    /** What it irreversibly deletes, a sentence; null if nothing. `fills` tells which fields are sent. */
    lasting?(operation: Own, fills: (field: string) => boolean): string | null
    /** What a person should know before using it; a warning is repeated before sending. */
    notice?: { kind: 'info' | 'warning'; title: string; text: string }
  }
  /** A single request by hand. */
  single: {
    /** The part of a plan's operation that is not in the body. */
    of(operation: Own): Scratch
    /** Initial settings, taken from a previous request as far as it has them. */
    first(before: { kind: string; mode?: Mode; indexId?: string }): Scratch
    /** A body that the service accepts. */
    example(endpoint: Scratch, postId: string): object
  }
}

/** One operation of the service. Its types are those of its schemas. */
export interface OperationEntry<
  Kind extends string,
  About extends Subject,
  Schema extends z.ZodType,
  Scratch extends z.ZodType,
> extends OperationTraits<z.output<Schema>, z.output<Scratch>> {
  kind: Kind
  subject: About
  schema: Schema
  /** Members of a single request by hand besides its body. */
  scratch: Scratch
}

/** Describes an operation, with types inferred from its schemas. */
export function defineOperation<
  const Kind extends string,
  const About extends Subject,
  Schema extends z.ZodType<{ kind: Kind }>,
  Scratch extends z.ZodType<{ kind: Kind }>,
>(entry: OperationEntry<Kind, About, Schema, Scratch>): OperationEntry<Kind, About, Schema, Scratch> {
  return entry
}
