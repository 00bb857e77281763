import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../../shared/messages/errors.ts'

/** A step of a schema: SQL statements, or a function that makes the changes inside an open transaction. */
export type SchemaStep = string | ((db: DatabaseSync) => void)

/** The schema of one kind of file that Sluice creates. */
export interface OwnSchema {
  /** The steps that create it; a file goes through them in order. */
  steps: readonly SchemaStep[]
  /**
   * Further columns, by table, and indexes that come and go with the content of a file. Each pattern is
   * matched against one column or one statement, with one space between all words and signs, such as `s1
   * REAL` and `CREATE INDEX found_s1 ON found ( s1 )`. A pattern must not admit expressions, since SQLite
   * evaluates them whenever the table is read or written.
   */
  columns?: Readonly<Record<string, RegExp>>
  indexes?: RegExp
}

/**
 * Refuses a SQLite file with another schema than Sluice's before anything in it is queried: a view can have
 * endless rows, an expression of a column or index can take hours, a trigger changes what is written, and
 * another program's tables are not ours to change. A file of a newer version passes; callers check versions.
 * Throws `WORKSPACE_UNUSABLE`, and what SQLite throws for a damaged file.
 */
export function refuseForeignSchema(db: DatabaseSync, file: string, schema: OwnSchema): void {
  const foreign = findForeign(db, schema)
  if (foreign !== null) throw new SluiceError({ id: 'foreign_schema', file, foreign })
}

/** How a file's schema differs from Sluice's, such as `it has the view run`; null if it does not. */
export function findForeign(db: DatabaseSync, schema: OwnSchema): string | null {
  // Expressions in a foreign schema must not call functions.
  db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
  // One statement reads both version and schema, so that no migration in another process can come between.
  const found = db
    .prepare(
      `SELECT user_version AS version, type, name, tbl_name AS "table", sql
       FROM pragma_user_version LEFT JOIN sqlite_schema`,
    )
    .all() as unknown as (SchemaObject & { version: number })[]
  const version = found[0]?.version ?? 0
  if (version > schema.steps.length) return null
  const objects = found.filter(({ type }) => type !== null)
  const [first] = objects
  if (version <= 0) return first === undefined ? null : `it has ${sayObject(first)}`
  const known = findExpected(schema, version)
  const key = JSON.stringify(objects)
  if (known.accepted.has(key)) return null
  const foreign = findDifference(objects, known.objects, schema)
  if (foreign !== null) return foreign
  if (known.accepted.size >= ACCEPTED_MAX) known.accepted.clear()
  known.accepted.add(key)
  return null
}

interface SchemaObject {
  type: string
  name: string
  table: string
  /** Null for indexes that the table's own constraints create. */
  sql: string | null
}

/** What files of a version contain, and the accepted schemas: thousands of journals have the same one. */
interface ExpectedSchema {
  objects: ReadonlyMap<string, SchemaObject>
  accepted: Set<string>
}

const ACCEPTED_MAX = 64

const expected = new WeakMap<OwnSchema, Map<number, ExpectedSchema>>()

function findExpected(schema: OwnSchema, version: number): ExpectedSchema {
  const versions = expected.get(schema) ?? new Map<number, ExpectedSchema>()
  expected.set(schema, versions)
  const known = versions.get(version) ?? { objects: readExpected(schema, version), accepted: new Set() }
  versions.set(version, known)
  return known
}

function readExpected({ steps }: OwnSchema, version: number): Map<string, SchemaObject> {
  const db = new DatabaseSync(':memory:')
  try {
    for (const step of steps.slice(0, version)) takeStep(db, step)
    const objects = db.prepare('SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema').all()
    return new Map((objects as unknown as SchemaObject[]).map((object) => [toKey(object), object]))
  } finally {
    db.close()
  }
}

function findDifference(
  objects: readonly SchemaObject[],
  known: ReadonlyMap<string, SchemaObject>,
  schema: OwnSchema,
): string | null {
  const found = new Set<string>()
  for (const object of objects) {
    const own = known.get(toKey(object))
    if (own === undefined) {
      if (object.type === 'index' && schema.indexes?.test(withoutLayout(object.sql ?? ''))) continue
      return `it has ${sayObject(object)}`
    }
    if (!isAlike(object, own, schema.columns?.[own.name])) {
      return `its ${object.type} ${object.name} is not the one that Sluice makes`
    }
    found.add(toKey(object))
  }
  const missing = [...known].find(([key]) => !found.has(key))
  return missing === undefined ? null : `it lacks ${sayObject(missing[1])}`
}

function isAlike(object: SchemaObject, own: SchemaObject, column: RegExp | undefined): boolean {
  if (object.table !== own.table || (object.sql === null) !== (own.sql === null)) return false
  if (object.sql === own.sql || object.sql === null || own.sql === null) return true
  const words = withoutLayout(object.sql)
  const ownWords = withoutLayout(own.sql)
  if (words === ownWords) return true
  if (column === undefined) return false
  // SQLite adds columns before the table's constraints.
  const keys = ownWords.indexOf(' , PRIMARY KEY (')
  const end = keys === -1 ? ownWords.lastIndexOf(' )') : keys
  const [before, after] = [ownWords.slice(0, end), ownWords.slice(end)]
  if (!words.startsWith(`${before} , `) || !words.endsWith(after)) return false
  const further = words.slice(before.length, -after.length).split(' , ').slice(1)
  return further.every((one) => column.exec(one)?.[0] === one)
}

/** Comments and white space as SQLite reads them, else one token: a string, quoted name, word or sign. */
const TOKEN =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[ \t\n\f\r]+)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\w$]+|[\s\S]/g

/** A statement with single spaces and without comments, so that the layout of a step may change. */
function withoutLayout(sql: string): string {
  return [...sql.matchAll(TOKEN)].flatMap(([word, gap]) => (gap === undefined ? [word] : [])).join(' ')
}

function toKey({ type, name }: SchemaObject): string {
  return `${type} ${name}`
}

function sayObject({ type, name, sql }: SchemaObject): string {
  const isVirtual = type === 'table' && /^CREATE VIRTUAL\b/i.test(sql ?? '')
  return `the ${isVirtual ? 'virtual table' : type} ${name}`
}

/** How many steps of its schema a file has gone through. */
export function readSchemaVersion(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/**
 * Applies the missing steps of a schema to a file, each in a transaction. Throws the error of `toTooNew` if
 * the file has more steps than the schema.
 */
export function takeSchemaSteps(
  db: DatabaseSync,
  { steps }: OwnSchema,
  toTooNew: (version: number) => Error,
): void {
  const version = readSchemaVersion(db)
  if (version > steps.length) throw toTooNew(version)
  for (const [index, step] of steps.entries()) {
    if (index < version) continue
    db.exec('BEGIN IMMEDIATE')
    try {
      takeStep(db, step)
      db.exec(`PRAGMA user_version = ${index + 1}; COMMIT`)
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
}

function takeStep(db: DatabaseSync, step: SchemaStep): void {
  if (typeof step === 'string') db.exec(step)
  else step(db)
}
