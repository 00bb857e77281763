import { isDeepStrictEqual } from 'node:util'
import { ReaderPool, type RunFamily, readRunFamily } from '../../src/main/engine/journal/run-family.ts'
import { readAnsweredSteps } from '../../src/main/engine/lookback/answered-rows.ts'
import {
  FOUND_KINDS,
  JournalFindings,
  readFingerprint,
} from '../../src/main/engine/run/results/journal-findings.ts'
import { RowFindings } from '../../src/main/engine/run/results/row-findings.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'

/**
 * Compares what a journal says of its rows with what it said before, because stored findings are trusted
 * while its fingerprint is the same.
 */
export class FindingsJudge {
  readonly faults: string[] = []
  readonly #runId: string
  /** What the journal said, by its fingerprint. */
  readonly #said = new Map<string, unknown>()

  constructor(runId: string) {
    this.#runId = runId
  }

  /** Checks the journal in its current state. */
  look(workspace: string): void {
    this.#read(workspace, (family) => {
      const fingerprint = readFingerprint(family)
      const said = describeFindings(JournalFindings.build(family, fingerprint))
      const before = this.#said.get(fingerprint)
      this.#said.set(fingerprint, said)
      if (before !== undefined && !isDeepStrictEqual(said, before))
        this.faults.push('old-findings: what was stored is believed, and the journal says something else.')
    })
  }

  /** Stores findings, which must agree with the journal. */
  store(workspace: string): void {
    this.#read(workspace, (family) => {
      const before = describeSteps(family)
      const findings = new RowFindings(null, 1)
      while (!findings.isComplete) findings.step(family)
      if (!RowFindings.areStored(family) || !isDeepStrictEqual(describeSteps(family), before))
        this.faults.push('other-findings: what is stored says something else than the journal.')
    })
  }

  #read(workspace: string, use: (family: RunFamily) => void): void {
    const pool = new ReaderPool()
    try {
      const family = readRunFamily(pool, toJournalFile(workspace, this.#runId), () => false)
      if (family !== null) use(family)
    } finally {
      pool.close()
    }
  }
}

function describeFindings({ columns }: JournalFindings) {
  const { last, marks, attempts, latencies, callbackLatencies, kinds, values, scores, cells } = columns
  const rows = Array.from({ length: last }, (_, index) => index + 1)
  return {
    marks,
    attempts,
    latencies,
    callbackLatencies,
    kinds: rows.map((row) => kinds.kinds[(kinds.of[row] ?? 0) - 1]),
    values: FOUND_KINDS.map((kind) => rows.map((row) => values[kind].at(row))),
    scores: [...scores].map(([name, own]) => [name, rows.map((row) => own.at(row))]),
    cells: [...cells].map(([column, own]) => [column, rows.map((row) => own.at(row))]),
  }
}

function describeSteps(family: RunFamily) {
  const columns = family.record.columns.keys().toArray()
  // A step's result is invalid once the next step is read.
  return Array.from(readAnsweredSteps(family, { columns, classes: 'all' }), (step) => ({
    owner: step.owner,
    marks: [step.answered, step.cached, step.outcomeStated].map((own) => Array.from(own)),
    rules: Array.from(step.owner, (_, place) => step.ruleIdsAt(place)),
    scores: Array.from(step.highestScores),
    cells: columns.map((column) => Array.from(step.cells(column))),
  }))
}
