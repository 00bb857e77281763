import { describe, expect, it } from 'vitest'
import {
  AS_BEFORE,
  SANDBOX,
  STORED,
  toAgainPlace,
} from '../../src/renderer/features/runs/run-again-dialog.tsx'
import type { ConnectionEntry } from '../../src/shared/bridge/connections.ts'
import type { PlannedAgain } from '../../src/shared/bridge/history.ts'
import { connectionSchema } from '../../src/shared/plan/connection.ts'

const PLAN: PlannedAgain = {
  runId: 'r1',
  name: 'posts.csv',
  isLoadTest: false,
  baseUrl: 'https://api.example.com/old',
  taskBaseUrl: null,
  connectionName: 'live',
  isSandbox: false,
  sendsKey: true,
  needsKey: false,
  source: { name: 'posts.csv', change: 'same', description: '' },
  postIds: 'none',
  legacy: null,
  rows: 3,
}

function createEntry(name: string, baseUrl: string, isProduction: boolean): ConnectionEntry {
  return {
    name,
    isProduction,
    isInUse: false,
    keys: [{ label: 'main', place: 'keyring', state: 'ready' }],
    activeKey: 'main',
    connection: connectionSchema.parse({ baseUrl, taskBaseUrl: `${baseUrl}:8443` }),
  }
}

const LIVE = createEntry('live', 'https://api.example.com', true)
const STAGING = createEntry('staging', 'https://staging.example.com', false)

describe('where a run goes again', () => {
  it('is its old destination with the stored key, marked as production', () => {
    expect(toAgainPlace(PLAN, AS_BEFORE, [LIVE, STAGING])).toEqual({
      place: { name: 'live', kind: 'production' },
      addresses: ['https://api.example.com/old'],
      key: 'Key main, as typed.',
    })
  })

  it('is production by its address, even if its connection is gone', () => {
    const gone = { ...PLAN, connectionName: null, needsKey: true }
    expect(toAgainPlace(gone, AS_BEFORE, [LIVE])).toEqual({
      place: { name: 'api.example.com/old', kind: 'production' },
      addresses: ['https://api.example.com/old'],
      key: 'The key that you enter here is sent.',
    })
  })

  it('is both addresses of another connection, with its key', () => {
    expect(toAgainPlace(PLAN, `${STORED}staging`, [LIVE, STAGING])).toEqual({
      place: { name: 'staging', kind: 'other' },
      addresses: ['https://staging.example.com', 'https://staging.example.com:8443'],
      key: 'Key main, as typed.',
    })
  })

  it('sends no stored key to the sandbox, and none if the operation has none', () => {
    expect(toAgainPlace(PLAN, SANDBOX, [LIVE])).toEqual({
      place: { name: 'the sandbox', kind: 'sandbox' },
      addresses: [],
      key: 'No stored key is sent.',
    })
    expect(toAgainPlace({ ...PLAN, sendsKey: false }, AS_BEFORE, [LIVE]).key).toBe('No API key is sent.')
  })
})
