import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recipes } from './bulk-workspaces.ts'
import { createPosts, POSTS } from './sources.ts'

const K6_RESULTS = fileURLToPath(new URL('../../test/fixtures/k6/', import.meta.url))

/** Runs with comparisons, labels, samples, baselines and names. */
export const LOOKING_BACK: Recipes = {
  compared: async ({ write, send, sandbox }) => {
    const source = write('posts.csv', POSTS)
    const first = await sandbox('--seed', 'a')
    await send(['task', source, '--base-url', first.baseUrl, '--legacy', '--name', 'Before'], [1])
    write(
      'posts.csv',
      POSTS.replace('see you at lunch', 'win a free prize').replace('how was the film', 'hi'),
    )
    const second = await sandbox('--seed', 'b', '--fault', '400=20%')
    await send(['task', source, '--base-url', second.baseUrl, '--legacy', '--name', 'After'], [1])
  },
  labelled: async ({ write, send, sandbox, run, withEngine }) => {
    const { baseUrl } = await sandbox()
    const source = write('posts.csv', POSTS)
    const { run_id: runId } = await send(['task', source, '--base-url', baseUrl, '--legacy'], [1])
    await run(['verdict', 'latest', '1', 'agree'])
    await run(['verdict', 'latest', '2', 'should-not', 'Contains a link', '--note', 'a quoted «link»'])
    await run(['verdict', 'latest', '4', 'should', 'Likely spam'])
    await run(['verdict', 'latest', '6', 'unsure'])
    await withEngine(async (engine) => {
      await engine.lookback.startLabelling(runId, {
        size: 6,
        by: 'rule',
        allocation: 'equal',
        seed: 7,
        rules: ['Likely spam'],
        showsDecision: false,
      })
    })
    await run(['verdict', 'latest', '5', 'agree'])
  },
  evaluated: async ({ write, send, sandbox, run }) => {
    const { baseUrl } = await sandbox()
    await send(['task', write('posts.csv', createPosts(60)), '--base-url', baseUrl, '--legacy'])
    const labels = ['--label', 'truth', '--positive', 'spam=Likely spam']
    await run(['evaluate', 'latest', ...labels, '--score', 'spam=Likely spam'])
  },
  baseline: async ({ write, send, sandbox, run }) => {
    const { baseUrl } = await sandbox()
    const source = write('posts.csv', createPosts(12))
    const sending = ['task', source, '--base-url', baseUrl, '--set', 'post_id={{run}}-{{row}}']
    await send(sending)
    await run(['baseline', 'set', 'latest', '--name', 'release'])
    await run(['baseline', 'set', 'latest'])
    await send(sending)
  },
  annotated: async ({ write, send, sandbox, run }) => {
    const { baseUrl } = await sandbox()
    const source = write('posts.csv', createPosts(3))
    await send(['task', source, '--base-url', baseUrl, '--name', 'First'])
    await run([
      'runs',
      'edit',
      'latest',
      '--name',
      'Ünïcode 🙂',
      '--tag',
      'nightly',
      '--tag',
      'b',
      '--note',
      'odd\nlines',
    ])
    await send(['task', source, '--base-url', baseUrl, '--set', 'post_id={{run}}-{{row}}'])
    await run(['runs', 'edit', 'latest', '--tag', 'nightly'])
    await run(['runs', 'retention', '--older-than', '30d', '--keep-below', '10GB'])
  },
  connections: async ({ write, send, sandbox, run }) => {
    const { baseUrl } = await sandbox()
    const keys = ['--key', 'first=SLUICE_API_KEY', '--key', 'second=OTHER_KEY']
    await run(['connection', 'add', 'live', '--base-url', baseUrl, '--production', ...keys, '--no-system-ca'])
    await run([
      'connection',
      'add',
      'test',
      '--base-url',
      'http://127.0.0.1:9',
      '--timeout',
      '5s',
      '--key',
      'only=TEST_KEY',
    ])
    await run(['connection', 'use', 'live', '--key', 'first'])
    await send(['task', write('posts.csv', createPosts(4)), '--yes', '--map', 'text_data=text_data'])
    await run(['mapping', 'save', 'forum', 'latest'])
    await run(['baseline', 'set', 'latest'])
  },
}

/** Load tests and imported k6 results. */
export const LOAD: Recipes = {
  load: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--latency', '5ms±2ms', '--fault', '5xx=3%')
    const pace = ['--rate', '50', '--duration', '3s', '--warmup', '500ms', '--sample', '20']
    await send(['load', write('posts.csv', createPosts(10)), '--base-url', baseUrl, ...pace])
  },
  'load-thresholds': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--latency', '5ms±2ms', '--fault', '400=10%')
    const pace = ['--stages', 'concurrency:1..4@2s', '--sample', '10', '--error-limit', '5']
    const thresholds = ['--threshold', 'p(99)<20000', '--threshold', 'http_req_failed:rate<0.01']
    const source = write('posts.csv', createPosts(10))
    await send(['load', source, '--base-url', baseUrl, ...pace, ...thresholds], [99])
  },
  'load-async': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--callbacks', 'delay=10ms,drop=5%')
    const pace = ['--concurrency', '2', '--requests', '40', '--async', '--callback-timeout', '1s']
    await send([
      'load',
      write('posts.csv', createPosts(10)),
      '--base-url',
      baseUrl,
      ...pace,
      '--sample',
      '10',
    ])
  },
  capacity: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--latency', '10ms', '--fault', '5xx=2%')
    const search = ['--find-capacity', '--concurrency', '1', '--max-probes', '3', '--cool-down', '0s']
    const probe = [
      '--warmup',
      '0s',
      '--duration',
      '400ms',
      '--threshold',
      'http_req_failed:rate<0.5',
      '--sample',
      '5',
    ]
    const source = write('posts.csv', createPosts(10))
    await send(['load', source, '--base-url', baseUrl, ...search, ...probe], [0, 1])
  },
  'imported-k6': async ({ write, send }) => {
    for (const file of ['v2/summary-export', 'v2/handle-summary', 'v2/machine-readable', 'v1/plain-lines']) {
      const result = write(`${basename(file)}.k6`, readFileSync(join(K6_RESULTS, `${file}.k6`)))
      await send(['import-k6', result, '--name', basename(file)], [0, 99])
    }
  },
}
