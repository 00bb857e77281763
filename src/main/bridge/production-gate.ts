import { createHash } from 'node:crypto'
import { formatLongLevel } from '../../shared/load/capacity-level.ts'
import type { CapacityPlan } from '../../shared/load/capacity-plan.ts'
import { CAPACITY_WARNING } from '../../shared/load/capacity-view.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { OPERATIONS, type OperationKind } from '../../shared/operations/operations.ts'
import type { PlanConnection } from '../../shared/plan/connection.ts'
import type { Plan } from '../../shared/plan/plan.ts'
import {
  findProduction,
  listAddresses,
  type Reached,
  sharesService,
} from '../../shared/plan/production-service.ts'
import type { StoredConnection } from '../../shared/plan/stored-connection.ts'
import { readConnections } from '../engine/workspace/connections.ts'

/** The question before anything is sent to a production connection. */
interface SendQuestion {
  kind: 'send'
  connection: string
  baseUrl: string
  run: string
  operation: OperationKind
  /** Most rows that are sent; null if not known yet. */
  rows: number | null
  /** What else the person must know, one per line. */
  notes: readonly string[]
  /** The levels of a capacity search; absent for anything else. */
  search?: Sending['search']
}

/**
 * The question about a production connection itself: before it is tested, or before it stops being
 * production, after which no question is asked any more.
 */
interface ConnectionQuestion {
  kind: 'test' | 'unmark'
  connection: string
  baseUrl: string
}

/** The question before a single Scratchpad request goes to production. */
interface RequestQuestion {
  kind: 'request'
  connection: string
  baseUrl: string
  operation: OperationKind
}

export type ProductionQuestion = SendQuestion | ConnectionQuestion | RequestQuestion

/** Shows the question where no page can answer it. `signal` aborts when the window that caused it closes. */
export type AskProduction = (question: ProductionQuestion, signal: AbortSignal) => Promise<boolean>

/** Shows in a window that a question is open; see `waiting-question.ts`. */
interface QuestionPlace {
  hold(question: ProductionQuestion, signal: AbortSignal, ask: AskProduction): Promise<boolean>
}

/** Time to answer a question, milliseconds. */
export const QUESTION_WAITS_MS = 5 * 60_000

interface Sending {
  runId: string
  plan: Plan
  /** Most rows that are sent; null if not known yet. */
  rows: number | null
  /** Lists what else the person must know, one per line; called only if a person is asked. */
  listNotes: () => Promise<readonly string[]>
  /** Start and highest level of a capacity search; absent for anything else. */
  search?: Pick<CapacityPlan, 'start' | 'max' | 'unit'>
}

/** Lets nothing be sent to a production connection without a person's consent. */
export interface ProductionGate {
  /**
   * Resolves when sending may begin: the run was admitted, its service is not production, or a person
   * consents now, after reading everything. Returns whether a person was asked. Throws `NOT_CONFIRMED`.
   */
  pass(sending: Sending, signal: AbortSignal | undefined): Promise<boolean>
  /** Like {@link pass}, but asks about every sending, also of an admitted run. */
  passOnce(sending: Sending, signal: AbortSignal | undefined): Promise<boolean>
  /** Records a person's consent to all of a run, including after pauses, until {@link forget}. */
  admit(runId: string, plan: Plan): void
  /** Ends the consent to a run that has ended. */
  forget(runId: string): void
  /**
   * Resolves at once if the connection is not production. Otherwise a person must allow the test (`test`), or
   * that the connection is unmarked, removed or moved (`unmark`). Throws `NOT_CONFIRMED`.
   */
  passConnection(
    kind: ConnectionQuestion['kind'],
    stored: StoredConnection,
    signal: AbortSignal | undefined,
  ): Promise<void>
  /**
   * Resolves when a single request may be sent: its service is not production, or a person allows it. Throws
   * `NOT_CONFIRMED`.
   */
  passRequest(
    request: { connection: PlanConnection; operation: OperationKind },
    signal: AbortSignal | undefined,
  ): Promise<void>
  /** Throws `BAD_USAGE` if an address that comes only from the page is a production connection's. */
  refuseAddress(url: string | undefined): void
  /** Throws `BAD_USAGE` if a proxy that comes only from the page is on a production connection's host. */
  refuseProxy(url: string): void
  /** Throws `BAD_USAGE` if a stored connection uses that port of this machine. */
  refusePort(port: number): void
  /** The same gate, with open questions shown in the window that caused them. */
  forWindow(question: QuestionPlace): ProductionGate
}

/** Creates the gate of a process. Asks one question at a time, so that a page cannot wear a person down. */
export function createProductionGate(workspace: string, ask: AskProduction): ProductionGate {
  /** The consented connection and plan of each admitted run. */
  const admitted = new Map<string, string>()
  let isAsking = false

  const findAll = () => readConnections(workspace).connections.filter(({ isProduction }) => isProduction)
  const find = (connection: Reached) => findProduction(findAll(), connection)

  function createFor(ofWindow: QuestionPlace | null): ProductionGate {
    async function askOne(question: ProductionQuestion, signal: AbortSignal): Promise<boolean> {
      if (isAsking) throw new SluiceError({ id: 'production_asked_already', connection: question.connection })
      isAsking = true
      const asked = ofWindow === null ? ask(question, signal) : ofWindow.hold(question, signal, ask)
      return asked.finally(() => {
        isAsking = false
      })
    }

    async function passOnce(
      { runId, plan, rows, search, listNotes }: Sending,
      signal = new AbortController().signal,
    ) {
      const stored = find(plan.connection)
      if (stored === null) return false
      const notes = await listNotes()
      const isGiven = await askOne(
        {
          kind: 'send',
          connection: stored.name,
          baseUrl: plan.connection.baseUrl,
          run: plan.name ?? runId,
          operation: plan.operation.kind,
          rows,
          notes,
          ...(search !== undefined && { search }),
        },
        signal,
      )
      // If the connection has changed meanwhile, the answer was about the old one.
      const now = find(plan.connection)
      const isSame = now !== null && toConsent(now, plan) === toConsent(stored, plan)
      if (!isGiven || !isSame || signal.aborted)
        throw new SluiceError({ id: 'production_declined', connection: stored.name })
      return true
    }

    return {
      async pass(sending, signal) {
        const stored = find(sending.plan.connection)
        if (stored === null || admitted.get(sending.runId) === toConsent(stored, sending.plan)) return false
        return passOnce(sending, signal)
      },
      passOnce,
      admit(runId, plan) {
        const stored = find(plan.connection)
        if (stored !== null) admitted.set(runId, toConsent(stored, plan))
      },
      forget: (runId) => void admitted.delete(runId),
      async passConnection(kind, connection, signal = new AbortController().signal) {
        // Under any name: the address counts.
        const { name, baseUrl } = connection
        if (find(connection) === null && !connection.isProduction) return
        const isGiven = await askOne({ kind, connection: name, baseUrl }, signal)
        if (!isGiven || signal.aborted) throw new SluiceError({ id: 'production_kept', connection: name })
      },
      async passRequest({ connection, operation }, signal = new AbortController().signal) {
        const stored = find(connection)
        if (stored === null) return
        const { name } = stored
        const isGiven = await askOne(
          { kind: 'request', connection: name, baseUrl: connection.baseUrl, operation },
          signal,
        )
        // If the connection has changed meanwhile, the answer was about the old one.
        const isSame = JSON.stringify(find(connection)) === JSON.stringify(stored)
        if (!isGiven || !isSame || signal.aborted)
          throw new SluiceError({ id: 'production_declined', connection: name })
      },
      refuseAddress(url) {
        if (url === undefined) return
        const stored = find({ baseUrl: url })
        if (stored === null) return
        throw new SluiceError({ id: 'address_is_production', url, connection: stored.name })
      },
      refuseProxy(url) {
        const stored = find({ baseUrl: url })
        if (stored !== null)
          throw new SluiceError({ id: 'proxy_is_production', url, connection: stored.name })
      },
      refusePort(port) {
        const { connections } = readConnections(workspace)
        const stored = connections.find((one) =>
          sharesService(listAddresses(one), [`http://localhost:${port}`]),
        )
        if (stored === undefined) return
        throw new SluiceError({ id: 'sandbox_port_of_connection', port, connection: stored.name })
      },
      forWindow: createFor,
    }
  }

  return createFor(null)
}

/** What consent is bound to: this connection and plan. */
function toConsent({ name, baseUrl, taskBaseUrl }: StoredConnection, plan: Plan): string {
  const about = JSON.stringify([name, baseUrl, taskBaseUrl ?? null, plan])
  return createHash('sha256').update(about).digest('base64url')
}

/** Longest shown part of a run's name, in characters. */
const NAME_MAX = 80

/** Longest line, in characters. */
const LINE_MAX = 400

const CONNECTION_WORDS: Record<
  ConnectionQuestion['kind'],
  { title(connection: string): string; line: string; agree: string }
> = {
  test: {
    title: (connection) => `Test production connection ${connection}?`,
    line: 'Two requests without content are sent: one without the key, one with it.',
    agree: 'Test it',
  },
  unmark: {
    title: (connection) => `Remove the production mark of ${connection}?`,
    line: 'The connection is being changed or removed in the window. Sluice will no longer ask before anything is sent to this address.',
    agree: 'Remove the mark',
  },
}

/** The text of a question, and the label of the button that agrees. */
interface QuestionWords {
  title: string
  lines: string[]
  agree: string
}

/** Puts a question into words. Names are sanitized, since they come from files and pages. */
export function describeProduction(question: ProductionQuestion): QuestionWords {
  if (question.kind === 'request') {
    return {
      title: `Send one request to production connection ${question.connection}?`,
      lines: [
        `The request of the Scratchpad ${OPERATIONS[question.operation].words.single}.`,
        `Address: ${question.baseUrl}`,
        'What is sent there is real and cannot be taken back.',
      ],
      agree: 'Send to production',
    }
  }
  if (question.kind !== 'send') {
    const { title, line, agree } = CONNECTION_WORDS[question.kind]
    return { title: title(question.connection), lines: [`Address: ${question.baseUrl}`, line], agree }
  }
  const { connection, baseUrl, run, operation, rows, search } = question
  const notes = question.notes.map((line) => toBare(line, LINE_MAX))
  if (search !== undefined) {
    const { unit, start, max } = search
    return {
      title: `Overload production connection ${connection}?`,
      lines: [
        `Capacity search with: ${toBare(run)}`,
        CAPACITY_WARNING,
        `From ${formatLongLevel(unit, start)} to at most ${formatLongLevel(unit, max)}.`,
        ...notes,
        `Address: ${baseUrl}`,
      ],
      agree: 'Start the search',
    }
  }
  const count = rows === null ? 'its rows' : `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
  return {
    title: `Send to production connection ${connection}?`,
    lines: [
      `Run: ${toBare(run)}`,
      `It ${OPERATIONS[operation].words.verb} ${count}.`,
      ...notes,
      `Address: ${baseUrl}`,
      'What is sent there is real and cannot be taken back.',
    ],
    agree: 'Send to production',
  }
}

/** One line of text, at most `max` characters long, that can neither hide nor imitate the text around it. */
export function toBare(text: string, max = NAME_MAX): string {
  const bare = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
  const characters = Array.from(bare)
  return characters.length <= max ? bare : `${characters.slice(0, max).join('')}…`
}
