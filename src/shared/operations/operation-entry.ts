import type { z } from 'zod'
import type { Mode } from '../service/endpoints.ts'
import type { RequestField } from '../service/request-field.ts'
import type { Subject } from './subjects.ts'

/** A rule for the body of a row. */
export type RowCheck =
  | { rule: 'required' | 'blank' | 'address' | 'object' | 'path segment'; field: string }
  | { rule: 'length'; field: string; max: number }
  | { rule: 'one of'; one: string; other: string }

/** A field of the request that an answer or a callback repeats under the same name, at its top. */
export interface Echo {
  field: string
  /** Whether no two rows of a run have the same, so that it tells whose the answer is. */
  isUnique: boolean
  /** Whether only a text is an echo: a number is an id of the service's own. */
  isText?: boolean
}

/** An error that docs/interface.md §7.1 shows for an operation. */
export interface ShownError {
  status: number
  errorCode: string
  /** When the service answers so. */
  condition: string
  /** False for the pairings that docs/interface.md §7.2 calls contradictory; a client must accept both (default: true). */
  consistent?: false
}

/** What an operation is, apart from its schemas: everything that its settings and names decide. */
export interface OperationTraits<Own, Scratch> {
  /** As it is first offered. */
  first: Own
  subject: Subject
  /** Every field that a column or template may fill, in the order of the interface. */
  fields: readonly RequestField[]
  /** The fields that say which one a row is; the first that is filled. */
  namedBy: readonly [string, ...string[]]
  /**
   * The fields by which what was sent is recognized when it is sent again, together; the first list that a row fills. An
   * id alone tells rows apart; contents are only what two rows have alike. Absent if sending again means asking again.
   */
  recognizedBy?: { ids: readonly (readonly string[])[]; contents?: readonly (readonly string[])[] }
  /** What fills a field that the mapping leaves open. */
  defaults?: Readonly<Record<string, { kind: 'template'; template: string }>>
  /** What can be wrong with the body of a row, in the order it is said. The rules of tasks depend on their options. */
  checks: readonly RowCheck[]
  endpoint: {
    method: 'POST' | 'GET'
    /** `row` is the body of the row that a GET is about; a POST's path is the same for every row. */
    path(operation: Own, row: Readonly<Record<string, unknown>>): string
    sendsKey: boolean
  }
  /** Whether a request whose answer was lost may be sent again; it may have been taken. */
  isRepeatable: boolean
  /** The errors that the interface shows for it. */
  errors: readonly ShownError[]
  /**
   * What an answer or a callback may repeat; what it lacks proves nothing. A request of several rows repeats its target
   * and its rows, as {@link batch} names them.
   */
  echoes: readonly Echo[]
  /** Absent if answers never come as callbacks. */
  modeOf?(operation: Own): Mode
  /** The index or watchlist that every row goes to. */
  target?: {
    /** Whose targets are of the same kind, so that one may stand for the other. */
    kind: 'index' | 'watchlist'
    of(operation: Own): string
    with(operation: Own, name: string): Own
    /** What a person does about one that is missing. */
    missing: string
  }
  /** Of requests that carry several rows: the body's member with the target, and the one with the rows. */
  batch?: { target: string; list: string; rowsPerItem(operation: Own): number }
  /** Of operations that can take notes away: what an empty cell of notes does. */
  emptyNotesOf?(operation: Own): 'keep' | 'clear'
  /** The ledger that its runs add up to, and what they do to an entry. */
  ledger?: { of: 'index' | 'watchlist' | 'appeals'; effect: 'adds' | 'removes' | 'updates' | 'reads' }
  words: {
    /** As on its card. */
    title: string
    /** On the command line. */
    command: string
    /** What it does with a row, a sentence. */
    meaning: string
    /** What it is set to, in a few words. */
    describe(operation: Own): string
    /** What it does with rows, as in "It adds 20 rows". */
    verb: string
    /** What a single request does, as in "The request adds an item to an index". */
    single: string
    /** What its rows became when it succeeded, as the name of a count. */
    done?: string
    /** What is lost by it and cannot be read back, a sentence; null if nothing is. `fills` says which fields are sent. */
    lasting?(operation: Own, fills: (field: string) => boolean): string | null
    /** What a person should know before it is used; a warning is said again before it is sent. */
    notice?: { kind: 'info' | 'warning'; title: string; text: string }
  }
  /** A single request by hand. */
  single: {
    /** What of a plan's operation is not in the body. */
    of(operation: Own): Scratch
    /** As it is first offered, with what it shares with the one before. */
    first(before: { kind: string; mode?: Mode; indexId?: string }): Scratch
    /** A body that the service would take. */
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
  /** What of it a single request by hand names beside its body. */
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
