import { describe, expect, test } from 'vitest'
import { formatThresholdMistake, parseThreshold } from '../../../src/shared/load/threshold-parser.ts'

const parse = (text: string) => {
  const result = parseThreshold(text)
  return result.ok ? result : { ...result, sentence: formatThresholdMistake(text, result.mistake) }
}

describe('the threshold grammar', () => {
  // The verdicts of k6 2.2.0 itself on thresholds of http_req_duration.
  test.each([
    'p(99)<500',
    'p(99) < 500',
    '  p(99)<=500  ',
    'p(99.9)>=1',
    'p(0)>1',
    'p(100)>1',
    'p(1e1)<5',
    'p(9_9)<5',
    'avg<1',
    'min>1',
    'med==1',
    'max===1',
    'max!=1',
    'avg<1e3',
    'avg<.5',
    'avg<5.',
    'avg<+5',
    'avg<-5',
    'avg<1_000',
  ])('accepts `%s` as k6 does', (text) => {
    expect(parse(text)).toMatchObject({ ok: true, parsed: { metric: 'http_req_duration' } })
  })

  test.each([
    'p(101)>1',
    'p(-1)>1',
    'p()>1',
    'p(x)>1',
    'p( 99 )<1',
    'P(99)<1',
    'mean<1',
    'avg<0x10',
    'avg<500ms',
    'avg<5%',
    'avg<',
    '<5',
    'avg',
    '',
    'avg=<5',
    'avg=5',
    'avg<5<6',
    'avg<>5',
    'avg < = 5',
    'count<1',
    'value<1',
    'avg!5',
    'avg<1__0',
    'avg<5_',
  ])('refuses `%s` as k6 does', (text) => {
    expect(parse(text)).toMatchObject({ ok: false })
  })

  test.each(['p<500', 'avg<inf', 'avg<nan'])('refuses `%s`, which k6 accepts but cannot judge', (text) => {
    expect(parse(text)).toMatchObject({ ok: false })
  })

  test('takes an expression apart', () => {
    expect(parse('p(99.9) <= 1.5e3')).toMatchObject({
      parsed: {
        metric: 'http_req_duration',
        aggregation: 'p',
        percentile: 99.9,
        operator: '<=',
        limit: 1500,
      },
    })
  })

  test.each([
    ['http_req_failed:rate<0.01', 'http_req_failed', 'rate'],
    ['http_req_failed<0.01', 'http_req_failed', 'rate'],
    ['rate<0.01', 'http_req_failed', 'rate'],
    ['http_reqs : rate > 100', 'http_reqs', 'rate'],
    ['http_reqs:count>=1_000', 'http_reqs', 'count'],
    ['dropped==0', 'dropped_iterations', 'count'],
    ['dropped_iterations:count==0', 'dropped_iterations', 'count'],
    ['dropped:rate<1', 'dropped_iterations', 'rate'],
    ['callback_latency:p(95)<2000', 'callback_latency', 'p'],
    ['start_lag:max<50', 'start_lag', 'max'],
    ['response_time:med<80', 'response_time', 'med'],
    ['http_req_waiting:avg<80', 'http_req_waiting', 'avg'],
    ['vus<100', 'vus', 'value'],
    ['vus_max:value<100', 'vus_max', 'value'],
  ])('reads `%s` as the %s of %s', (text, metric, aggregation) => {
    expect(parse(text)).toMatchObject({ ok: true, parsed: { metric, aggregation } })
  })

  test.each([
    ['p(99)<500 abortOnFail', 'p(99)<500', 0],
    ['p(99)<500, abortOnFail, delayAbortEval=10s', 'p(99)<500', 10_000],
    ['rate < 0.01 delayAbortEval=1m30s abortOnFail', 'rate < 0.01', 90_000],
  ])('reads the options of `%s`', (text, expression, delayAbortEvalMs) => {
    expect(parse(text)).toMatchObject({ ok: true, expression, abortOnFail: true, delayAbortEvalMs })
  })

  test('has no options unless they are given', () => {
    expect(parse('p(99)<500')).toMatchObject({ abortOnFail: false, delayAbortEvalMs: 0 })
  })
})

describe('a mistake in a threshold', () => {
  test.each([
    [
      'p(99)<500ms',
      10,
      'threshold `p(99)<500ms`, character 10: expected a number of milliseconds without a unit, as k6 has it, found `ms`',
    ],
    ['rate<1%', 7, 'without a percent sign, as in 0.01 for 1 %, found `%`'],
    ['rate<5', 6, 'a share from 0 to 1, as in 0.05 for 5 %'],
    ['avg=5', 4, 'expected one of `<=`, `<`, `>=`, `>`, `===`, `==`, `!=`, found `=5`'],
    ['p(101)<5', 3, 'a percentile from 0 to 100, as in p(99) or p(99.9), found `101`'],
    ['count>5', 1, 'a metric before `count`, as in `http_reqs:count>1000`'],
    ['value>5', 1, 'a metric before `value`, as in `vus:value<100`'],
    ['latency<5', 1, 'a metric (http_req_duration, '],
    ['constructor:avg<5', 1, 'a metric (http_req_duration, '],
    ['http_req_duration<5', 18, 'an aggregation after the metric, as in `http_req_duration:p(99)<500`'],
    ['http_req_duration:rate<5', 19, 'one of avg, min, med, max, p(N) for http_req_duration, found `rate`'],
    ['http_req_failed:p(99)<5', 17, 'expected rate for http_req_failed, found `p(99)`'],
    ['dropped:avg<5', 9, 'one of count, rate for dropped_iterations'],
    [
      'http_req_duration{scenario:warmup}:p(99)<5',
      19,
      'expected `main` or `default`: all measured requests are of one scenario for the tag scenario, found `scenario:warmup`',
    ],
    [
      'http_req_duration{status:fast}:p(99)<5',
      19,
      'a status such as 200, or 0 for no answer for the tag status',
    ],
    ['http_req_duration{expected_response:yes}:avg<5', 19, '`true` or `false` for the tag expected_response'],
    ['http_req_duration{status:200:p(99)<5', 35, '`}` behind the tags'],
    ['http_req_duration{status:200}<5', 30, 'an aggregation after the tags'],
    ['vus{status:200}:value<5', 4, 'no tags: vus is not of single requests'],
    ['p(99)<', 7, 'a number of milliseconds, found nothing'],
    ['http_reqs:rate>fast', 16, 'expected a number, found `fast`'],
    ['p(99)<5.5.5', 10, 'the end of the number, found `.5`'],
    ['', 1, 'a comparison such as `p(99)<500`'],
    ['<5', 1, 'what to compare before the operator'],
    ['p(99)<5 abort', 9, '`abortOnFail`, `delayAbortEval=10s`, each at most once, or the end, found `abort`'],
    ['p(99)<5 abortOnFail abortOnFail', 21, 'each at most once'],
    ['p(99)<5 abortOnFail delayAbortEval=3', 36, 'a duration such as 10s or 1m30s, found `3`'],
    ['p(99)<5 delayAbortEval=3s', 9, '`abortOnFail` together with `delayAbortEval`'],
  ])('in `%s` is reported at character %d with what is expected', (text, at, sentence) => {
    const result = parse(text)
    expect(result).toMatchObject({ ok: false, mistake: { at } })
    expect('sentence' in result && result.sentence).toContain(sentence)
  })
})
