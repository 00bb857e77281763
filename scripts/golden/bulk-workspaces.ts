import type { GoldenFolder } from './checkout.ts'
import { pause } from './checkout.ts'
import { startHoldingService } from './holding-service.ts'
import { createItems, createPosts, PIXEL, POSTS } from './sources.ts'

/** Functions that fill one workspace each. */
export type Recipes = Readonly<Record<string, (golden: GoldenFolder) => Promise<void>>>

const LATE = 'delay=10ms,shuffle=40ms,double=20%,early=20%,drop=15%'

/** Runs of each operation in each of its modes. */
export const OPERATIONS: Recipes = {
  'task-v1-sync': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--fault', '400=15%', '--fault', '5xx-after=15%', '--seed', 'golden')
    await send(
      ['task', write('posts.csv', POSTS), '--base-url', baseUrl, '--retries', '1', '--name', 'Posts'],
      [1],
    )
  },
  'task-v1-async': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--callbacks', LATE, '--seed', 'golden')
    const source = write('posts.csv', POSTS)
    await send(['task', source, '--base-url', baseUrl, '--async', '--callback-timeout', '2s'], [1])
  },
  'task-v2-sync': async ({ write, send, sandbox }) => {
    const { baseUrl, taskBaseUrl } = await sandbox()
    const source = write('posts.jsonl', toJsonLines(8))
    const models = ['--api', 'v2', '--model', 'text', '--model', 'sandbox-index']
    await send(['task', source, '--base-url', baseUrl, '--task-base-url', taskBaseUrl, ...models])
  },
  'task-v2-async': async ({ write, send, sandbox }) => {
    const { baseUrl, taskBaseUrl } = await sandbox()
    const source = write('media.tsv', toMedia(6))
    const models = ['--api', 'v2', '--model', 'visual', '--model', 'ocr', '--async']
    await send(['task', source, '--base-url', baseUrl, '--task-base-url', taskBaseUrl, ...models])
  },
  'task-legacy': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox()
    await send(['task', write('posts.csv', POSTS), '--base-url', baseUrl, '--legacy'], [1])
  },
  'task-legacy-async': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--callbacks', 'delay=10ms')
    await send(['task', write('posts.csv', POSTS), '--base-url', baseUrl, '--legacy', '--async'], [1])
  },
  'index-sync': async (golden) => {
    const { baseUrl } = await golden.sandbox('--index', 'other')
    await addAndRemove(golden, baseUrl, ['--index', 'sandbox-index'])
    const more = golden.write('more.csv', createItems(2))
    await golden.send(['index', 'add', more, '--base-url', baseUrl, '--index', 'other'])
  },
  'index-async': async (golden) => {
    const { baseUrl } = await golden.sandbox('--callbacks', 'delay=10ms')
    await addAndRemove(golden, baseUrl, ['--index', 'sandbox-index', '--async'])
  },
  watchlists: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox()
    const list = ['--base-url', baseUrl, '--watchlist', 'sandbox_terms', '--terms-per-request', '2']
    const terms = write('terms.csv', 'term,notes\ngift card,new\nNew Term,x\nother,\nünïcode 🙂,y\nfive,\n')
    await send(['watchlist', 'add', terms, ...list])
    const updates = write('updates.csv', 'term,notes\nnew term,changed\nunheard of,z\nother,now with notes\n')
    await send(['watchlist', 'update', updates, ...list], [1])
  },
  appeals: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox()
    const ids = Array.from({ length: 12 }, (_, index) => `appeal-${index + 1}`)
    const source = write('appeals.csv', `appeal_id\n${ids.join('\n')}\n`)
    await send(['appeal', source, '--base-url', baseUrl], [1])
    await send(['appeal', '--recheck', '--base-url', baseUrl], [0, 1])
  },
  folder: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox()
    write('posts/one.txt', 'win a free prize now claim your cash prize')
    write('posts/below/zwei ü.txt', 'hello there')
    write('posts/three.png', PIXEL)
    write('posts/readme.bin', Buffer.from([0, 1, 2]))
    const media = ['--media-template', 'https://media.example.com/{{path}}', '--set', 'user_id=importer']
    const folder = write('posts/.keep', '').replace('/.keep', '')
    await send(['task', folder, '--base-url', baseUrl, ...media], [0, 1])
  },
}

/** Runs that did not complete, and what was done about them. */
export const ENDINGS: Recipes = {
  'invalid-rows': async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox()
    const posts = [
      ...['post_id;user_id;text_data;url;content_metadata', 'p1;u1;hello;;{"a":1}', 'p1;u1;again;;'],
      ...['p3;u;;;', 'p4;u_4;hello;;', 'p5;u5;both;https://example.com/a.png;', 'p6;u6;;not an address;'],
      ...['p7;u7;hello;;{broken', 'p8;u8;too;many;cells;here', 'p9;;;;', 'p10;u10;fine;;'],
    ]
    await send(['task', write('posts.csv', `${posts.join('\n')}\n`), '--base-url', baseUrl], [1])
  },
  interrupted: async ({ write, run }) => {
    const service = await startHoldingService(6)
    const source = write('posts.csv', createPosts(20))
    const { code } = await run(['task', source, '--base-url', service.baseUrl], {
      onStart: (child) => void service.untilHeld(4).then(() => child.kill('SIGINT')),
      onStderr: (text) => void (text.includes('Stopping') && service.release()),
    })
    await service.close()
    if (code !== 130) throw new Error(`the interrupted run exited with ${code}`)
  },
  killed: async ({ write, run }) => {
    const service = await startHoldingService(6)
    const source = write('posts.csv', createPosts(20))
    const { code } = await run(['task', source, '--base-url', service.baseUrl], {
      // The journal commits answers within 50 ms.
      onStart: (child) =>
        void service
          .untilHeld(4)
          .then(() => pause(500))
          .then(() => child.kill('SIGKILL')),
    })
    await service.close()
    if (code !== null) throw new Error(`the killed run exited with ${code}`)
  },
  'killed-resumed': async ({ write, run, send }) => {
    const source = write('posts.csv', createPosts(20))
    const service = await startHoldingService(6)
    await run(['task', source, '--base-url', service.baseUrl], {
      onStart: (child) =>
        void service
          .untilHeld(4)
          .then(() => pause(500))
          .then(() => child.kill('SIGKILL')),
    })
    service.release()
    await send(['resume', 'latest', '--on-unknown', 'skip'], [1])
    await service.close()
  },
  stopped: async ({ write, run, sandbox }) => {
    const { baseUrl } = await sandbox()
    const source = write('posts.csv', createPosts(30))
    await run(['task', source, '--base-url', baseUrl], { env: { SLUICE_API_KEY: 'another-key' } })
  },
  overdue: async ({ write, send, sandbox, keep }) => {
    const service = await sandbox('--callbacks', 'late=50%@3s', '--seed', 'golden')
    const async = ['--async', '--callback-timeout', '500ms']
    await send(['task', write('posts.csv', createPosts(10)), '--base-url', service.baseUrl, ...async], [1])
    // Its callbacks are in the inbox; no run has read them yet.
    const receiver = await keep(['receiver', '--json', '--quiet'])
    await service.waitForCallbacks()
    await receiver.end()
  },
  retried: async ({ write, send, sandbox }) => {
    const { baseUrl } = await sandbox('--fault', '503-before=40%,tries=2', '--fault', '400=10%,tries=1')
    await send(['task', write('posts.csv', createPosts(24)), '--base-url', baseUrl, '--retries', '0'], [1])
    await send(['retry', 'latest', '--on-unknown', 'resend'], [0, 1])
    await send(['retry', 'latest', '--on-unknown', 'resend'], [0, 1])
  },
  corrected: async ({ write, send, sandbox, withEngine }) => {
    const { baseUrl } = await sandbox()
    write('posts.csv', POSTS)
    const plan = {
      connection: { baseUrl },
      source: { path: 'posts.csv' },
      operation: { kind: 'task', legacy: true },
      fixes: [
        { kind: 'substitute', field: 'post_id' },
        { kind: 'cell', row: 4, field: 'text_data', value: 'see you at dinner' },
      ],
    }
    const { run_id: runId } = await send(
      ['plan', write('plan.json', JSON.stringify(plan)), '--trust-plan'],
      [1],
    )
    await withEngine(async (engine, keyFor) => {
      const { ended } = await engine.runs.retryRun(runId, {
        apiKey: keyFor(await engine.runs.readPlan(runId)),
        onUnknown: 'skip',
        fixes: [{ kind: 'cell', row: 14, field: 'user_id', value: 'nobody' }],
      })
      await ended
    })
  },
}

async function addAndRemove({ write, send, run }: GoldenFolder, baseUrl: string, flags: string[]) {
  const items = write('items.csv', createItems(6))
  const service = ['--base-url', baseUrl, ...flags]
  await send(['index', 'add', items, ...service])
  const exported = write('added.csv', '')
  await run(['export', 'latest', exported, '--state', 'succeeded'])
  await send(['index', 'remove', exported, ...service])
  await send(['index', 'add', items, ...service])
}

function toJsonLines(count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const text_data = index % 2 === 0 ? 'sandbox:spam:3' : 'hello'
    const content_metadata = { nested: { list: [index, 'ü'] }, big: 12 }
    return `${JSON.stringify({ post_id: `p${index}`, user_id: 'u', text_data, content_metadata })}\n`
  }).join('')
}

function toMedia(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, i) => `p${i}\tu${i}\thttps://example.com/sandbox-hate-${i % 4}.png`,
  )
  return `post_id\tuser_id\turl\n${lines.join('\n')}\n`
}
