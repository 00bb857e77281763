import { describe, expect, test } from 'vitest'
import { createHistogram, recordUs } from '../../../src/shared/load/latency-meter.ts'
import { createRequestSums, type LoadMeasurements, METRIC_NAMES } from '../../../src/shared/load/metrics.ts'
import { formatThresholdMistake, parseThreshold } from '../../../src/shared/load/threshold-parser.ts'
import {
  createTagMatcher,
  formatTags,
  listRowTags,
  type TaggedRequest,
} from '../../../src/shared/load/threshold-tags.ts'
import { evaluateThresholds, thresholdSchema } from '../../../src/shared/load/thresholds.ts'

/** The thresholds in k6's documentation on metrics that load tests have here too, quoted verbatim. */
const OF_THE_DOCUMENTATION = [
  // Using k6 › Thresholds
  'http_req_failed:rate<0.01',
  'http_req_duration:p(95)<200',
  'http_req_duration:p(90) < 400',
  'http_req_duration:p(95) < 800',
  'http_req_duration:p(99.9) < 2000',
  'http_req_duration:avg < 200',
  'http_req_duration{type:API}:p(95)<500',
  'http_req_duration{type:staticContent}:p(99)<250',
  'http_req_duration{staticAsset:yes}:p(95)<100',
  'http_req_duration:p(99) < 10 abortOnFail delayAbortEval=10s',
  'checks:rate>0.9',
  'checks{myTag:hola}:rate>0.9',
  'http_req_duration{status:200}:max>=0',
  'http_req_failed{status:200}:rate>=0',
  'http_reqs{status:500}:count<=100',
  'http_req_waiting:p(95)<500',
  // Tags and groups
  'http_req_duration{name:PostsItemURL}:p(95)<500',
  'http_req_duration{name:http://test.k6.io/?page=1}:p(95)<500',
  'http_req_duration{expected_response:true}:p(95)<500',
  'http_req_duration{expected_response:false}:max<1000',
  // Scenarios
  'http_req_duration{scenario:default}:max>=0',
  'iterations{scenario:default}:count>=0',
  'iteration_duration{scenario:default}:max>=0',
  'dropped_iterations:count<=10',
  'iteration_duration:max<3000',
  'iterations:count>=100',
  'iterations:rate>=4',
  'http_reqs:count>=1000',
  'http_reqs:rate>=1500',
  'data_received:count<1000000',
  'data_sent:rate<100000',
  'vus:value>10',
  'vus_max:value<100',
  // Metrics of single phases
  'http_req_blocked:p(95)<50',
  'http_req_connecting:p(95)<50',
  'http_req_tls_handshaking:p(95)<50',
  'http_req_sending:max<100',
  'http_req_receiving:max<17000',
  // k6-utils: tagWithCurrentStageIndex
  'http_req_duration{stage:1}:p(95) < 500',
  // Error codes
  'http_reqs{error_code:1050}:count<5',
  'http_reqs{error_code:1404}:count==0',
  'http_req_duration{method:POST}:p(99)<300',
]

test.each(OF_THE_DOCUMENTATION)("`%s` from k6's documentation is read", (text) => {
  expect(parseThreshold(text)).toMatchObject({ ok: true })
})

test.each([
  ['group_duration{group:::individual}:avg<400', 1, 'a metric'],
  ['http_req_duration{group:::main}:avg<400', 19, 'a tag that requests of a load test have'],
  ['http_req_duration{scenario:contacts}:max<1', 19, '`main` or `default`'],
  ['http_req_duration{method:GET}:max<1', 19, '`POST`'],
  ['http_req_duration{status:ok}:max<1', 19, 'a status such as 200'],
  ['http_reqs{error_code:1999}:count<1', 11, 'the code of an error'],
  ['http_reqs{status:200,status:201}:count<1', 22, 'the tag status once'],
  ['http_reqs{status}:count<1', 11, 'a tag and its value'],
  ['http_reqs{}:count<1', 11, 'a tag and its value'],
  ['vus{status:200}:value<1', 4, 'no tags'],
  ['dropped{lang:de}:count<1', 8, 'no tags'],
  ['callback_latency{status:200}:max<1', 17, 'no tags'],
])('`%s` says what is wrong with it', (text, at, expected) => {
  const parsed = parseThreshold(text)
  if (parsed.ok) throw new Error('it was read')
  expect(parsed.mistake.at).toBe(at)
  expect(formatThresholdMistake(text, parsed.mistake)).toContain(expected)
})

function readTags(text: string) {
  const parsed = parseThreshold(text)
  if (!parsed.ok) throw new Error(formatThresholdMistake(text, parsed.mistake))
  return parsed.parsed.tags
}

test('quotes keep commas and colons in the value of a tag', () => {
  const parsed = parseThreshold(`http_req_duration{topic:"a, b: c", 'lang' : de }:max<1`)
  if (!parsed.ok) throw new Error('it was not read')
  const { tags } = parsed.parsed
  expect(tags).toEqual([
    { name: 'topic', value: 'a, b: c' },
    { name: 'lang', value: 'de' },
  ])
  expect(formatTags(tags)).toBe('{topic:"a, b: c",lang:de}')
  const again = parseThreshold(`http_req_duration${formatTags(tags)}:max<1`)
  expect(again.ok && again.parsed.tags).toEqual(tags)
})

test.each([
  [`{topic:"a } b"}`, 'topic', 'a } b'],
  [`{topic:'a} < b'}`, 'topic', 'a} < b'],
  [`{topic:"a:b, c"}`, 'topic', 'a:b, c'],
  [`{"a: b":c}`, 'a: b', 'c'],
  [`{ 'a, } b' : "c" }`, 'a, } b', 'c'],
  [`{topic:it's}`, 'topic', "it's"],
  [`{topic:say "hi"}`, 'topic', 'say "hi"'],
  [`{topic:'quoted" } word'}`, 'topic', 'quoted" } word'],
  [`{topic:'"whole"'}`, 'topic', '"whole"'],
])('%s is read as intended, and written so that it is read again', (written, name, value) => {
  for (const text of [written, formatTags([{ name, value }])]) {
    expect(readTags(`http_reqs${text}:count<1`)).toEqual([{ name, value }])
  }
})

test('tags without a closing brace or quote are reported', () => {
  for (const text of ['http_reqs{topic:a:count<1', 'http_reqs{topic:"a}":count<1']) {
    const parsed = parseThreshold(text)
    expect(parsed).toMatchObject({ ok: false })
  }
})

describe('tags choose requests', () => {
  const request = (parts: Partial<TaggedRequest> = {}): TaggedRequest => ({
    status: 200,
    isSuccess: true,
    errorCode: null,
    stage: null,
    rowTags: 0,
    ...parts,
  })
  const toMatch = (text: string) => {
    const parsed = parseThreshold(`http_reqs{${text}}:count>0`)
    if (!parsed.ok) throw new Error('it was not read')
    const { tags } = parsed.parsed
    return createTagMatcher(tags, {
      urls: ['http://localhost/v1/tasks?all=1', '/v1/tasks?all=1'],
      stages: [undefined, 'peak', undefined],
      rowTags: listRowTags([[{ name: 'lang', value: 'de' }], [{ name: 'lang', value: 'fr' }]]),
    })
  }

  test.each<[tags: string, has: Partial<TaggedRequest>, hasNot: Partial<TaggedRequest>]>([
    ['status:0', { status: 0 }, {}],
    ['expected_response:false', { isSuccess: false }, {}],
    ['error_code:1404', { status: 404 }, { status: 1404 }],
    ['error_code:1212', { errorCode: 'ECONNREFUSED' }, { errorCode: 'ECONNRESET' }],
    ['error_code:RATE_LIMITED', { errorCode: 'RATE_LIMITED' }, { errorCode: 'BUSY' }],
    ['stage:1', { stage: 1 }, { stage: 0 }],
    ['stage:peak', { stage: 1 }, { stage: null }],
    ['lang:de', { rowTags: 1 }, { rowTags: 2 }],
    ['lang:fr', { rowTags: 3 }, { rowTags: 1 }],
    ['status:200,lang:de', { rowTags: 1 }, { status: 503, rowTags: 1 }],
  ])('by `%s`', (tags, has, hasNot) => {
    expect(toMatch(tags)(request(has))).toBe(true)
    expect(toMatch(tags)(request(hasNot))).toBe(false)
  })

  test('all by scenario, method and address', () => {
    const all = ['scenario:main', 'scenario:default', 'method:POST', 'name:/v1/tasks?all=1']
    for (const tags of [...all, 'url:http://localhost/v1/tasks?all=1']) {
      expect(toMatch(tags)(request({ isSuccess: false, status: 0 }))).toBe(true)
    }
    expect(toMatch('name:/v1/others')(request())).toBe(false)
  })
})

describe('metrics of k6', () => {
  const distribution = (...ms: number[]) => {
    const histogram = createHistogram()
    for (const one of ms) recordUs(histogram, one * 1000)
    return histogram
  }
  const measured: LoadMeasurements = {
    durationS: 2,
    latencies: {
      http_req_duration: distribution(10, 20),
      http_req_sending: distribution(1, 1),
      iteration_duration: distribution(30),
    },
    all: { requests: 4, failed: 1, iterations: 3, sentBytes: 400, receivedBytes: 800 },
    within: { requests: 3, failed: 1, iterations: 2, sentBytes: 300, receivedBytes: 600 },
    dropped: 2,
    inFlight: 1,
    maxInFlight: 5,
  }
  const read = (...texts: string[]) =>
    evaluateThresholds(
      texts.map((text) => thresholdSchema.parse(text)),
      measured,
    ).map(({ value }) => value)

  test("have k6's values; the rate of a counter is over the measured time", () => {
    expect(
      read('checks:rate>0', 'iterations:count>0', 'iterations:rate>0', 'data_sent:rate>0', 'data_received>0'),
    ).toEqual([0.75, 3, 1, 150, 800])
    expect(read('iteration_duration:max>0')[0]).toBeCloseTo(30, 1)
    expect(read('iterations{scenario:main}:count>0', 'dropped{scenario:default}>0')).toEqual([3, 2])
  })

  test('are 0 ms for opening connections if all were open already, and missing if nothing was sent', () => {
    expect(read('http_req_connecting:p(95)<5', 'http_req_tls_handshaking:max<5')).toEqual([0, 0])
    const nothing = { ...measured, latencies: {}, all: createRequestSums(), within: createRequestSums() }
    // Requests that timed out before a connection was open have a duration but were not sent.
    const unsent = { ...measured, latencies: { http_req_duration: distribution(10, 20) } }
    for (const none of [nothing, unsent]) {
      const [result] = evaluateThresholds([thresholdSchema.parse('http_req_connecting:p(95)<5')], none)
      expect(result).toMatchObject({ value: null, ok: false })
    }
  })

  test("are all that k6's documentation lists for HTTP", () => {
    expect(METRIC_NAMES).toEqual(
      expect.arrayContaining([
        ...['checks', 'data_received', 'data_sent', 'dropped_iterations', 'iteration_duration', 'iterations'],
        ...['vus', 'vus_max', 'http_req_blocked', 'http_req_connecting', 'http_req_duration'],
        ...['http_req_failed', 'http_req_receiving', 'http_req_sending', 'http_req_tls_handshaking'],
        ...['http_req_waiting', 'http_reqs'],
      ]),
    )
  })
})
