import { rmSync } from 'node:fs'
import { type Labelling, type LabellingChange, labellingSchema } from '../../../shared/lookback/labelling.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { placeVerdicts, type VerdictStratum } from '../run/journal/verdict-store.ts'
import { underLease } from '../workspace/lease.ts'
import { replaceFileSync } from '../workspace/replace-file.ts'
import { toStoreError } from '../workspace/store-error.ts'
import { readDocument } from '../workspace/stored-document.ts'
import { toLabellingFile } from '../workspace/workspace-files.ts'

/** Next to the journal of the first run, like the verdicts. */
function toFile({ whole, workspace, record }: RunFamily): string {
  return toLabellingFile(workspace, whole[0]?.record.runId ?? record.runId)
}

/** The rows of a run that were drawn to be labelled; null if none were. Throws `WORKSPACE_UNUSABLE`. */
export function readLabelling(family: RunFamily): Labelling | null {
  return readDocument({ file: toFile(family), schema: labellingSchema, unusable: 'labelling_unusable' }, null)
}

/** Stores drawn rows; replaces those drawn before. Throws `WORKSPACE_UNUSABLE`. */
export function storeLabelling(family: RunFamily, labelling: Labelling): Labelling {
  const stored = write(family, () => labelling)
  placeVerdicts(family, new Map(labelling.rows.map((drawn) => [drawn[0], toStratum(labelling, drawn)])))
  return stored
}

/** The stratum a row was drawn from, with null members if only others were drawn; undefined if none were. */
export function findStratum(family: RunFamily, row: number): VerdictStratum | undefined {
  const labelling = readLabelling(family)
  if (labelling === null) return undefined
  const drawn = labelling.rows.find(([number]) => number === row)
  return drawn === undefined ? { stratum: null, stratum_rows: null } : toStratum(labelling, drawn)
}

function toStratum({ strata }: Labelling, [, place]: Labelling['rows'][number]): VerdictStratum {
  const { stratum, rows } = strata[place] ?? { stratum: null, rows: null }
  return { stratum, stratum_rows: rows }
}

/** Stores a person's progress. Throws `BAD_USAGE` if other rows are drawn now, and `WORKSPACE_UNUSABLE`. */
export function changeLabelling(family: RunFamily, change: LabellingChange): Labelling {
  return write(family, () => {
    const known = readLabelling(family)
    if (known === null) throw new SluiceError({ id: 'labelling_missing', runId: family.record.runId })
    if (known.started_at !== change.started_at) {
      throw new SluiceError({ id: 'labelling_replaced', runId: family.record.runId })
    }
    const changed = { ...known, ...change }
    return { ...changed, at: Math.min(changed.at, known.rows.length) }
  })
}

/** Forgets which rows were drawn; the verdicts on them stay. */
export function endLabelling(family: RunFamily): void {
  rmSync(toFile(family), { force: true })
}

function write(family: RunFamily, make: () => Labelling): Labelling {
  const file = toFile(family)
  return underLease(file, `the labelling of run ${family.record.runId}`, () => {
    const labelling = make()
    try {
      replaceFileSync(file, JSON.stringify(labelling), { isPrivate: true })
    } catch (error) {
      throw toStoreError('labelling_unusable', file, error)
    }
    return labelling
  })
}
