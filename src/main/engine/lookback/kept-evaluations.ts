import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type {
  EvaluatedCell,
  EvaluateOptions,
  EvaluationQuestion,
  EvaluationStep,
} from '../../../shared/lookback/evaluation.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { findVerdictsFile } from '../run/journal/verdict-store.ts'
import { isSameVersion, readVersions, type Version } from '../run/results/row-search.ts'
import { type EvaluatedRun, evaluateInSteps } from './evaluate-run.ts'

/** Most evaluations kept; the least recently used goes first. One of 1,000,000 rows takes 8 MB. */
const KEPT_MAX = 4

/** Most questions whose evaluation can be repeated when its cells are requested. */
const QUESTIONS_MAX = 200

/** How long a question waits for its evaluation, milliseconds; then the answer is its progress. */
const PATIENCE_MS = 250

/** Least time between evaluations of an active run, milliseconds; they take at most a fifth of the time. */
const REFRESH_MS = 1_000
const REFRESH_SHARE = 5

interface Basis {
  journals: Version[]
  /** Sizes and modification times of the files with labels and with verdicts. */
  files: string
}

interface Question {
  file: string
  options: EvaluateOptions
}

interface Entry extends Question {
  made: {
    run: EvaluatedRun
    basis: Basis
    atMs: number
    tookMs: number
    lists: Map<string, Uint32Array>
  } | null
  making: {
    steps: ReturnType<typeof evaluateInSteps>
    basis: Basis
    progress: { rows: number; of: number }
    tookMs: number
    /** The running step, which everyone who asks awaits. */
    step: Promise<void> | null
  } | null
}

/**
 * The evaluations that a window looks at, kept while neither journals nor labels change. One is computed only
 * while somebody asks for it, a few milliseconds at a time, so that an abandoned question costs nothing.
 */
export class KeptEvaluations {
  readonly #questions = new Map<string, Question>()
  readonly #entries = new Map<string, Entry>()
  readonly #nowMs: () => number

  /** `nowMs` is a clock in milliseconds, with any origin. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** The finished evaluation, or its progress after {@link PATIENCE_MS}. Throws what an evaluation throws. */
  async ask(
    file: string,
    question: EvaluationQuestion,
    openFamily: () => RunFamily,
  ): Promise<EvaluationStep> {
    const nothing = { wantedPrecisions: [], whatIf: [], assertions: [], list: [] }
    const options = { ...question, ...nothing }
    const id = hash('sha256', JSON.stringify([file, options]), 'base64url').slice(0, 22)
    this.#questions.delete(id)
    this.#questions.set(id, { file, options })
    dropOldest(this.#questions, QUESTIONS_MAX)
    const entry = await this.#make(id, openFamily, PATIENCE_MS)
    return {
      id,
      progress: entry.making?.progress ?? null,
      evaluation: entry.made?.run.evaluation ?? null,
      scores: entry.made?.run.drawn ?? [],
    }
  }

  /** Numbers of the rows in a cell, ascending; the same array until they change. Throws `BAD_USAGE`. */
  async list(cell: EvaluatedCell, openFamily: () => RunFamily): Promise<Uint32Array> {
    const { made } = await this.#make(cell.evaluation, openFamily, Number.POSITIVE_INFINITY)
    const key = JSON.stringify([cell.cell, cell.rule])
    const rows = made?.lists.get(key) ?? made?.run.cells?.list(cell) ?? new Uint32Array()
    made?.lists.set(key, rows)
    return rows
  }

  /** Forgets the evaluations of a run that is about to be deleted. */
  forget(file: string): void {
    for (const known of [this.#questions, this.#entries]) {
      for (const [id, question] of known) if (question.file === file) known.delete(id)
    }
  }

  /** Computes the evaluation, or part of it, unless there is one of the run's present state. */
  async #make(id: string, openFamily: () => RunFamily, patienceMs: number): Promise<Entry> {
    const entry = this.#get(id)
    const askedAtMs = this.#nowMs()
    for (;;) {
      if (entry.making === null && this.#isCurrent(entry, openFamily())) return entry
      entry.making ??= this.#begin(entry, openFamily())
      const { making } = entry
      making.step ??= this.#takeStep(entry).finally(() => {
        making.step = null
      })
      try {
        await making.step
      } catch (error) {
        this.#entries.delete(id)
        throw error
      }
      if (entry.making === null) return entry
      if (this.#nowMs() - askedAtMs > patienceMs) return entry
      await setImmediate()
    }
  }

  #get(id: string): Entry {
    const question = this.#questions.get(id)
    if (question === undefined) throw new SluiceError({ id: 'evaluation_forgotten' })
    const entry = this.#entries.get(id) ?? { ...question, made: null, making: null }
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    dropOldest(this.#entries, KEPT_MAX)
    return entry
  }

  #isCurrent({ made, options }: Entry, family: RunFamily): boolean {
    if (made === null) return false
    const { journals, files } = readBasis(family, options)
    const isSame =
      files === made.basis.files &&
      journals.length === made.basis.journals.length &&
      journals.every((one, index) => isSameVersion(one, made.basis.journals[index]))
    if (isSame) return true
    const restMs = Math.max(REFRESH_MS, made.tookMs * REFRESH_SHARE)
    return family.members.some(({ isHeld }) => isHeld) && this.#nowMs() - made.atMs < restMs
  }

  #begin({ options }: Entry, family: RunFamily): NonNullable<Entry['making']> {
    const basis = readBasis(family, options)
    return {
      steps: evaluateInSteps(family, options, { keepsCells: true }),
      basis,
      progress: { rows: 0, of: 0 },
      tookMs: 0,
      step: null,
    }
  }

  async #takeStep(entry: Entry): Promise<void> {
    const { making } = entry
    if (making === null) return
    const startedAtMs = this.#nowMs()
    const step = await making.steps.next()
    const endedAtMs = this.#nowMs()
    making.tookMs += endedAtMs - startedAtMs
    if (!step.done) {
      making.progress = { ...step.value }
      return
    }
    const { basis, tookMs } = making
    Object.assign(entry, {
      made: { run: step.value, basis, atMs: endedAtMs, tookMs, lists: new Map() },
      making: null,
    } satisfies Partial<Entry>)
  }
}

function dropOldest(known: Map<string, unknown>, most: number): void {
  for (const [oldest] of known) {
    if (known.size <= most) break
    known.delete(oldest)
  }
}

function readBasis(family: RunFamily, { labels, useVerdicts }: EvaluateOptions): Basis {
  const files = [
    ...(labels === undefined ? [] : [labels.source.path]),
    ...(useVerdicts ? [findVerdictsFile(family)] : []),
  ]
  const about = files.map((file) => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found === undefined ? null : [found.size, found.mtimeMs]
  })
  return { journals: readVersions(family), files: JSON.stringify(about) }
}
