import { type Command, InvalidArgumentError } from 'commander'
import { type Load, type LoadInput, loadSchema } from '../../../shared/load/load.ts'
import {
  IN_FLIGHT_MAX,
  isOpen,
  isWholeRate,
  type LoadPace,
  parseStages,
  RATE_MAX,
  type StagesPace,
} from '../../../shared/load/load-pace.ts'
import { formatThresholdMistake, parseThreshold } from '../../../shared/load/threshold-parser.ts'
import type { Threshold } from '../../../shared/load/thresholds.ts'
import { formatTextMistake } from '../../../shared/messages/text-mistake.ts'
import { LOAD_OPTIONS, LOAD_SECTIONS } from '../../../shared/options/load-options.ts'
import { nameFlag } from '../../../shared/options/plan-options.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { createDurationParser, createIntegerParser, createPositiveNumberParser } from './parse-values.ts'
import { addTableOptions, type FlagsOf, readFlags } from './table-options.ts'

type ThinkTime = NonNullable<Load['thinkTime']>

/** The options that only `load` takes, once parsed. */
export type LoadFlags = FlagsOf<typeof LOAD_OPTIONS> & {
  concurrency?: number
  rate?: number
  stages?: StagesPace
  abortOnFail?: true
  once?: true
}

const RETRIES = {
  ...RETRY_OPTIONS,
  limit: {
    ...RETRY_OPTIONS.limit,
    help: 'retries per request; each counts as a request (default: 0)',
  },
}

/** The options behind each part of a load, for errors that name the part. */
const FLAGS: Partial<Record<string, string>> = {
  durationMs: '--duration, --requests',
  workers: '--workers, --max-in-flight',
}

const parsePause = createDurationParser('1h', { allowsZero: true })

/** Parser of `--rate`: a rate that schedules can keep exactly. */
function parseRate(text: string): number {
  const rate = createPositiveNumberParser(RATE_MAX)(text)
  if (isWholeRate(rate)) return rate
  throw new InvalidArgumentError(`expected a rate with at most three decimal places, found \`${text}\`.`)
}

function parseStagesOption(text: string): StagesPace {
  const parsed = parseStages(text)
  if (parsed.ok) return parsed.pace
  throw new InvalidArgumentError(`${formatTextMistake('stages', text, parsed.mistake)}.`)
}

function collectThreshold(text: string, previous: Threshold[] | undefined): Threshold[] {
  const parsed = parseThreshold(text)
  if (!parsed.ok) throw new InvalidArgumentError(`${formatThresholdMistake(text, parsed.mistake)}.`)
  const { expression, abortOnFail, delayAbortEvalMs } = parsed
  return [...(previous ?? []), { expression, abortOnFail, delayAbortEvalMs }]
}

/** Parser of `--think-time`: a pause, or a range of pauses. */
function parseThinkTime(text: string): ThinkTime {
  const [shortest = '', longest = shortest, ...others] = text.split(/-|\.\./)
  if (others.length > 0) {
    throw new InvalidArgumentError(
      `expected a duration such as 1s, or a range such as 0.5s-2s, found \`${text}\`.`,
    )
  }
  const range = { minMs: parsePause(shortest), maxMs: parsePause(longest) }
  if (range.minMs <= range.maxMs) return range
  throw new InvalidArgumentError(`expected the shorter duration first, found \`${text}\`.`)
}

/** Declares how hard and how long a load test sends, in place of the usual pace (docs/load-tests.md §2). */
export function addLoadOptions(command: Command): Command {
  command
    .optionsGroup('Load (choose one):')
    .option('--rate <n>', 'requests per second, sent on schedule even if the service slows down', parseRate)
    .option(
      '--concurrency <n>',
      'concurrent requests; each answer starts the next request',
      createIntegerParser(1, IN_FLIGHT_MAX),
    )
    .option(
      '--stages <stages>',
      'a sequence of rates, such as 50@30s,50..200@2m,200@1m, or of concurrency: concurrency:5..50@1m',
      parseStagesOption,
    )
    .option(
      '--once',
      'smoke test: send row 1 once and end; exits with 0 if it succeeded. Pace, duration and thresholds do not matter',
    )
  const addOptions = (...sections: (keyof typeof LOAD_SECTIONS)[]) => {
    for (const section of sections) {
      command.optionsGroup(LOAD_SECTIONS[section].heading)
      addTableOptions(command, LOAD_OPTIONS, [section], {
        thinkTime: parseThinkTime,
        thresholds: collectThreshold,
      })
    }
  }
  addOptions('length', 'around', 'rows', 'limit', 'think', 'thresholds')
  command.option('--abort-on-fail', 'stop the test when any threshold fails')
  addOptions('connections')
  addTableOptions(command, RETRIES, ['pace'])
  addOptions('kept')
  return command
}

export function addLoadOverrides(command: Command): Command {
  command
    .optionsGroup('Load test:')
    .option('--stages <stages>', 'a sequence of rates or of concurrency, as of `load`', parseStagesOption)
  return addTableOptions(
    command,
    {
      durationMs: LOAD_OPTIONS.durationMs,
      requests: LOAD_OPTIONS.requests,
      thresholds: LOAD_OPTIONS.thresholds,
    },
    ['length', 'thresholds'],
    { thresholds: collectThreshold },
  )
}

/**
 * A load with the overrides of options. Stages replace a duration or a number of requests, and either of
 * these replaces the other; thresholds replace those of the load. Throws commander's
 * `InvalidArgumentError`.
 */
export function toOverriddenLoad(
  load: Load,
  flags: Pick<LoadFlags, 'rate' | 'concurrency' | 'stages' | 'duration' | 'requests' | 'threshold'>,
): Load {
  const { rate, duration, requests, threshold } = flags
  if (rate !== undefined && !isWholeRate(rate)) {
    throw new InvalidArgumentError('--rate: expected a rate with at most three decimal places.')
  }
  const isPaced = rate !== undefined || flags.concurrency !== undefined || flags.stages !== undefined
  const isLengthGiven = duration !== undefined || requests !== undefined
  const { durationMs, requests: count, thinkTime, maxInFlight, whenFull, ...kept } = load
  const pace = isPaced ? toPace(flags) : load.pace
  return parseLoad({
    ...kept,
    pace,
    // A think time belongs to a concurrency, an in-flight limit to a rate.
    ...(isOpen(pace) === isOpen(load.pace) && { thinkTime, maxInFlight, whenFull }),
    ...(isLengthGiven || pace.kind === 'stages' ? {} : { durationMs, requests: count }),
    ...(duration === undefined ? {} : { durationMs: duration }),
    ...(requests === undefined ? {} : { requests }),
    ...(threshold === undefined ? {} : { thresholds: threshold }),
  })
}

function toPace({ rate, concurrency, stages }: LoadFlags): LoadPace {
  const given = [
    ...(rate === undefined ? [] : [{ flag: '--rate', pace: { kind: 'open', ratePerSecond: rate } as const }]),
    ...(concurrency === undefined
      ? []
      : [{ flag: '--concurrency', pace: { kind: 'closed', concurrency } as const }]),
    ...(stages === undefined ? [] : [{ flag: '--stages', pace: stages }]),
  ]
  const [only] = given
  if (only !== undefined && given.length === 1) return only.pace
  const hint =
    only === undefined
      ? 'add --rate, --concurrency or --stages to set the load'
      : `${given.map(({ flag }) => flag).join(' and ')} cannot be combined`
  throw new InvalidArgumentError(`${hint}.`)
}

/** A single request without a separate first request, over the connections that options ask for. */
function toSmokeTest({ http, gracefulStop }: LoadFlags): Load {
  return loadSchema.parse({
    pace: { kind: 'closed', concurrency: 1 },
    requests: 1,
    firstRequest: 'skip',
    ...(http !== undefined && { httpVersion: http }),
    ...(gracefulStop !== undefined && { gracefulStopMs: gracefulStop }),
  } satisfies LoadInput)
}

/** The load that options ask for. Throws commander's `InvalidArgumentError` if they contradict each other. */
export function toLoad(flags: LoadFlags): Load {
  if (flags.once) return toSmokeTest(flags)
  const { abortOnFail = false, threshold = [] } = flags
  if (abortOnFail && threshold.length === 0) {
    throw new InvalidArgumentError("--abort-on-fail needs a --threshold to stop at, such as 'p(99)<500'.")
  }
  return parseLoad({
    ...readFlags(LOAD_OPTIONS, flags),
    pace: toPace(flags),
    thresholds: threshold.map((one) => ({ ...one, abortOnFail: one.abortOnFail || abortOnFail })),
  })
}

/** Throws commander's `InvalidArgumentError` if parts of a load contradict each other. */
function parseLoad(input: LoadInput): Load {
  const parsed = loadSchema.safeParse(input)
  if (parsed.success) return parsed.data
  const sentences = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0])
    const flag = FLAGS[name] ?? nameFlag(`load.${name}`)
    return `${flag ?? path.join('.')}: ${message}`
  })
  throw new InvalidArgumentError(`${sentences.join('; ')}.`)
}
