import { z } from 'zod'
import { IN_FLIGHT_MAX, LOAD_MAX_MS, loadPaceSchema } from '../load/load-pace.ts'
import { thresholdSchema } from '../load/thresholds.ts'
import { formatCounted } from '../messages/figure-text.ts'
import type { OptionTable } from './option.ts'

const HOUR_MS = 3_600_000

/** Most requests that can be stored completely. */
const KEPT_MAX = 100_000

const thinkTimeSchema = z
  .object({ minMs: z.int().min(0).max(HOUR_MS), maxMs: z.int().min(0).max(HOUR_MS) })
  .refine(({ minMs, maxMs }) => minMs <= maxMs, { error: 'minMs must not be above maxMs', path: ['minMs'] })

/** Sections of the help, and of the form if they have a title. */
export const LOAD_SECTIONS = {
  length: { heading: 'Duration:', title: null },
  around: { heading: 'Duration:', title: 'Before and after' },
  rows: { heading: 'Rows:', title: 'Order of the rows' },
  limit: { heading: 'Concurrency:', title: 'When the service is slower than the schedule' },
  think: { heading: 'Concurrency:', title: 'Think time before the next request' },
  thresholds: { heading: 'Thresholds:', title: null },
  connections: { heading: 'Transport:', title: 'Connections' },
  kept: { heading: 'Samples:', title: 'Requests kept in full' },
} as const

/** Preconditions of some options: an open or closed pace, HTTP/2 connections, drawn rows, or random order. */
export type LoadCircumstance = 'open' | 'closed' | 'http2' | 'drawn' | 'random'

const NEEDS_OPEN = {
  circumstance: 'open',
  otherwise: 'belongs to an open pace; a closed one has its own number in flight',
} as const

/** All options of a load test (docs/load-tests.md), in the order of the plan. */
export const LOAD_OPTIONS = {
  pace: {
    schema: loadPaceSchema,
    words: 'Rate, concurrency or stages.',
    parts: {
      kind: {
        words:
          'closed: a number of requests in flight. open: a rate of requests per second. stages: a sequence of either.',
        setting: 'pace of the load test',
      },
      concurrency: { words: 'Requests in flight.', setting: 'requests in flight' },
      ratePerSecond: {
        words: 'Requests per second, sent on schedule even if the service slows down.',
        setting: 'requests a second',
      },
      of: { words: 'Unit of the stages: requests per second, or requests in flight.' },
      stages: { words: 'Stages in order, each from one level to another.', setting: 'stage' },
      'stages.*.from': { words: 'Level at the start of the stage.' },
      'stages.*.to': { words: 'Level at the end of the stage.' },
      'stages.*.durationMs': { words: 'Duration of the stage, in milliseconds.' },
      'stages.*.name': { words: 'Name of the stage, by which thresholds and figures refer to it.' },
    },
  },
  durationMs: {
    schema: z.int().min(1).max(LOAD_MAX_MS).optional(),
    words: 'Test duration with a closed or open pace, in milliseconds; stages have their own durations.',
    setting: 'duration',
    section: 'length',
    flag: '--duration <duration>',
    help: 'test duration, such as 60s or 5m',
  },
  requests: {
    schema: z.int().min(1).max(1_000_000_000).optional(),
    words: 'Number of requests, instead of a duration.',
    section: 'length',
    flag: '--requests <n>',
  },
  warmupMs: {
    schema: z.int().min(0).max(HOUR_MS).default(0),
    words: 'Warm-up duration at the initial load, excluded from results; in milliseconds.',
    setting: 'warm-up',
    section: 'around',
    flag: '--warmup <duration>',
    field: {
      label: 'Warm-up',
      title: 'Requests of the warm-up are sent, but not measured.',
      start: '5s',
      expected: 'Expected a duration such as 10s, at most an hour; 0s for none.',
    },
  },
  /** Whether row 1 is sent alone before anything else; no figure includes it. */
  firstRequest: {
    schema: z.enum(['check', 'skip']).default('check'),
    words:
      'Whether row 1 is sent once before the test, which ends it if the service cannot be reached or refuses it (check), or not (skip).',
    setting: null,
    section: 'around',
    flag: '--first-request <choice>',
    help: 'check: send row 1 once before the test, and end there if the service cannot be reached or answers 401, 403 or 404; skip: begin at once',
    field: {
      label: 'First request',
      title:
        'Row 1 is sent once before the test, which ends there if the service cannot be reached or refuses it.',
    },
    choices: [
      ['check', 'check the service'],
      ['skip', 'none'],
    ],
  },
  order: {
    schema: z.enum(['source', 'shuffled', 'random']).default('source'),
    words:
      'Which row a request sends: those of the source in order and again from the start (source), the same in another order each time (shuffled), or any row (random).',
    setting: 'order of the rows',
    section: 'rows',
    flag: '--order <choice>',
    help: 'source: rows in order, and again from the start; shuffled: the same, in another order each time; random: any row, as often as its --weight says',
    field: { label: 'Rows are sent' },
    choices: [
      ['source', 'in the order of the source'],
      ['shuffled', 'shuffled again in each round'],
      ['random', 'at random'],
    ],
  },
  seed: {
    schema: z.int().min(0).max(4_294_967_295).default(1),
    words: 'Seed of a shuffled or random order; the same seed gives the same order.',
    section: 'rows',
    flag: '--seed <n>',
    needs: { circumstance: 'drawn', otherwise: 'a seed belongs to a shuffled or random order of rows' },
    field: { label: 'Seed', width: 9 },
  },
  weight: {
    schema: z.string().min(1).exactOptional(),
    words:
      'Column with the weight of each row in a random order: a row of weight 2 is sent twice as often as one of 1.',
    setting: 'column of weights',
    section: 'rows',
    flag: '--weight <column>',
    help: 'column with the weight of each row, with --order random (default: all alike)',
    needs: { circumstance: 'random', otherwise: 'weights belong to a random order of rows' },
    field: { label: 'Weights from the column', placeholder: 'all alike', width: 14 },
  },
  /** Pause of a closed pace between an answer and the next request. */
  thinkTime: {
    schema: thinkTimeSchema.optional(),
    words: 'Pause before the next request with a closed pace, random within a range.',
    parts: {
      minMs: { words: 'Shortest pause, in milliseconds.', setting: 'shortest think time' },
      maxMs: { words: 'Longest pause, in milliseconds.', setting: 'longest think time' },
    },
    section: 'think',
    flag: '--think-time <duration>',
    help: 'pause between requests with --concurrency: 1s, or random from 0.5s-2s (default: none)',
    needs: {
      circumstance: 'closed',
      otherwise: 'a think time belongs to a closed pace; an open one has its schedule',
    },
  },
  /** How long requests may stay in flight after the load (30 s as in k6) before they count as unknown. */
  gracefulStopMs: {
    schema: z.int().min(0).max(HOUR_MS).default(30_000),
    words:
      'Time for requests in flight to finish after the test, in milliseconds; requests that take longer are unknown.',
    section: 'around',
    flag: '--graceful-stop <duration>',
    help: 'time for requests in flight to finish after the test',
    field: {
      label: 'Graceful stop',
      title: 'Requests in flight at the end get this long; then they are given up as unknown.',
      expected: 'Expected a duration such as 30s, at most an hour; 0s gives up at once.',
    },
  },
  maxInFlight: {
    schema: z.int().min(1).max(IN_FLIGHT_MAX).optional(),
    words: 'Limit of requests in flight with an open pace (default: highest rate × timeout).',
    setting: 'requests in flight at most',
    section: 'limit',
    flag: '--max-in-flight <n>',
    help: 'limit of requests in flight with --rate (default: rate × timeout, at most 10000)',
    needs: NEEDS_OPEN,
    field: { label: 'In flight, at most', placeholder: 'rate × timeout', width: 14 },
  },
  whenFull: {
    schema: z.enum(['wait', 'drop']).default('wait'),
    words: 'What a due request does when maxInFlight is reached: wait, or drop.',
    setting: 'when the limit is reached',
    section: 'limit',
    flag: '--when-full <choice>',
    help: 'what a due request does when --max-in-flight is reached: wait (adds to response_time) or drop',
    needs: NEEDS_OPEN,
    field: { label: 'At that limit, requests' },
  },
  thresholds: {
    schema: z.array(thresholdSchema).default([]),
    words: 'Pass/fail criteria, such as p(99)<500.',
    setting: null,
    parts: {
      '*.expression': { words: 'Criterion in k6 syntax, such as p(99)<500.' },
      '*.abortOnFail': { words: 'Whether to stop the test when it fails.' },
      '*.delayAbortEvalMs': { words: 'Measured time before it can stop the test, in milliseconds.' },
    },
    section: 'thresholds',
    flag: '--threshold <expression>',
    help: "pass/fail criterion in k6 syntax, such as 'p(99)<500' or 'http_req_failed:rate<0.01'; append ` abortOnFail delayAbortEval=10s` to stop the test early; repeatable",
  },
  sampleSize: {
    schema: z.int().min(0).max(KEPT_MAX).default(1_000),
    words: 'Requests to keep in full, sampled at random.',
    setting: null,
    section: 'kept',
    flag: '--sample <n>',
    field: { label: 'Sample of all', width: 9 },
  },
  /** All requests that did not succeed are counted, whether or not they are kept. */
  errorLimit: {
    schema: z.int().min(0).max(KEPT_MAX).default(1_000),
    words: 'Unsuccessful requests to keep in full, earliest first.',
    setting: null,
    section: 'kept',
    flag: '--error-limit <n>',
    field: { label: 'Failed ones, earliest first', width: 12 },
  },
  httpVersion: {
    schema: z.enum(['1.1', '2']).default('1.1'),
    words: 'Required HTTP version.',
    setting: 'HTTP version',
    section: 'connections',
    flag: '--http <version>',
    field: { label: 'Protocol' },
    choices: [
      ['1.1', 'HTTP/1.1'],
      ['2', 'HTTP/2'],
    ],
    phrase: (version: string) => `HTTP/${version}`,
  },
  http2Connections: {
    schema: z.int().min(1).max(IN_FLIGHT_MAX).optional(),
    words: "Maximum HTTP/2 connections per worker (default: as many as the service's stream limit requires).",
    setting: 'HTTP/2 connections',
    section: 'connections',
    flag: '--http2-connections <n>',
    help: "maximum HTTP/2 connections per worker (default: as needed for the service's stream limit)",
    needs: { circumstance: 'http2', otherwise: 'only HTTP/2 shares connections' },
    field: { label: 'Connections per thread, at most', placeholder: 'as needed', width: 14 },
    phrase: (count: number) => `at most ${formatCounted(count, 'HTTP/2 connection')} per worker`,
  },
  workers: {
    schema: z.int().min(1).max(64).default(1),
    words: 'Sending threads.',
    section: 'connections',
    flag: '--workers <n>',
    field: { label: 'Sending threads', width: 9 },
    phrase: (count: number) => (count > 1 ? `${count} sending threads` : null),
  },
} as const satisfies OptionTable
