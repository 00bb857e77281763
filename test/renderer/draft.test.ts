import { beforeEach, expect, it } from 'vitest'
import {
  changeDraft,
  clearDraft,
  parseMemory,
  restartDraft,
  toMemory,
  useDraft,
} from '../../src/renderer/app/draft.ts'
import { beginAt, findOtherPlace, followConnection } from '../../src/renderer/app/flow.ts'
import { DEFAULT_LOAD } from '../../src/renderer/features/operation/load-settings.ts'
import { chooseVersion } from '../../src/renderer/features/operation/operation-settings.ts'
import { findRefusedTrial } from '../../src/renderer/features/review/review-screen.tsx'
import { DEFAULT_SETTINGS } from '../../src/renderer/features/review/settings.ts'
import type { ConnectionEntry } from '../../src/shared/bridge/connections.ts'
import { connectionSchema } from '../../src/shared/plan/connection.ts'

const toEntry = (name: string, isInUse: boolean): ConnectionEntry => ({
  name,
  keys: [],
  activeKey: 'main',
  isProduction: false,
  isInUse,
  connection: connectionSchema.parse({ baseUrl: `https://${name}.example` }),
})
const using = (inUse: string) => ['east', 'west'].map((name) => toEntry(name, name === inUse))
const readPlace = () => useDraft.getState().settings.destination

beforeEach(() => {
  restartDraft(null)
  changeDraft({ isDestinationChosen: false, settings: DEFAULT_SETTINGS })
})

it('uses the connection in use, even if it changed before a reload', () => {
  beginAt({ kind: 'stored', name: 'east' }, using('east'))
  expect(readPlace()).toMatchObject({ kind: 'stored', name: 'east' })
  const memory = parseMemory(JSON.stringify(toMemory(useDraft.getState())))
  changeDraft({ ...memory, isRestoring: true })
  beginAt({ kind: 'stored', name: 'west' }, using('west'))
  expect(readPlace()).toMatchObject({ name: 'east' })
  changeDraft({ isRestoring: false })
  beginAt({ kind: 'stored', name: 'west' }, using('west'))
  expect(readPlace()).toMatchObject({ name: 'west' })
  beginAt({ kind: 'service', baseUrl: 'https://other.example' }, using('west'))
  expect(readPlace()).toMatchObject({ name: 'west' })
  beginAt({ kind: 'sandbox' }, [])
  expect(readPlace()).toEqual({ kind: 'sandbox' })
})

it('keeps a load test over a reload if a column of weights was typed and removed', () => {
  const load = { ...DEFAULT_LOAD, weight: null, thresholds: 'p(99)<500' }
  changeDraft({ load })
  expect(parseMemory(JSON.stringify(toMemory(useDraft.getState())))?.load).toEqual(load)
  changeDraft({ load: DEFAULT_LOAD })
})

it('uses the connection in use once connections are listed, whatever the machine said before', () => {
  beginAt({ kind: 'sandbox' }, using('east'))
  expect(readPlace()).toMatchObject({ kind: 'stored', name: 'east' })
  beginAt({ kind: 'stored', name: 'east' }, using('west'))
  expect(readPlace()).toMatchObject({ name: 'west' })
})

it('stays at the chosen destination until a connection is put in use by hand', () => {
  const settings = { ...DEFAULT_SETTINGS, destination: { kind: 'sandbox' as const } }
  changeDraft({ isDestinationChosen: true, settings })
  beginAt({ kind: 'stored', name: 'east' }, using('east'))
  expect(readPlace()).toEqual({ kind: 'sandbox' })
  followConnection('west', using('west'))
  expect(readPlace()).toMatchObject({ kind: 'stored', name: 'west' })
  expect(findOtherPlace(useDraft.getState(), using('west'))).toBeNull()
})

it('keeps checked rows at the destination they were checked for, and names it', () => {
  beginAt({ kind: 'stored', name: 'east' }, using('east'))
  changeDraft({ heldRunId: 'r1' })
  expect(findOtherPlace(useDraft.getState(), using('east'))).toBeNull()
  followConnection('west', using('west'))
  beginAt({ kind: 'stored', name: 'west' }, using('west'))
  expect(readPlace()).toMatchObject({ name: 'east' })
  expect(findOtherPlace(useDraft.getState(), using('west'))).toBe('east')
})

it("clears the operation's options when the draft is started over, but keeps its kind and destination", () => {
  const operation = { kind: 'task', mode: 'async', api: 'v2', legacy: false, models: ['my-index'] } as const
  const settings = { ...DEFAULT_SETTINGS, destination: { kind: 'sandbox' as const } }
  changeDraft({ operation: { ...operation, models: [...operation.models] }, settings })
  clearDraft()
  expect(useDraft.getState().operation).toEqual({ ...operation, mode: 'sync', api: 'v1', models: [] })
  expect(readPlace()).toEqual({ kind: 'sandbox' })
})

it('resets requests in flight to the default once a draft is sent or started over, whatever its destination', () => {
  const sendFast = () => changeDraft({ settings: { ...DEFAULT_SETTINGS, concurrency: 24 } })
  sendFast()
  clearDraft()
  expect(useDraft.getState().settings.concurrency).toBe(DEFAULT_SETTINGS.concurrency)
  sendFast()
  restartDraft(null)
  expect(useDraft.getState().settings.concurrency).toBe(DEFAULT_SETTINGS.concurrency)
})

it('drops custom indexes and further models for v1, which takes one listed model', () => {
  const operation = { kind: 'task', mode: 'sync', api: 'v2', legacy: false } as const
  const toV1 = (models: string[]) => chooseVersion({ ...operation, models }, 'v1').models
  expect(toV1(['my-index'])).toEqual([])
  expect(toV1(['my-index', 'ocr', 'text'])).toEqual(['ocr'])
})

it('says that the service rejected every row of a trial, once all are answered', () => {
  const counts = { read: 793, invalid: 0, succeeded: 0, failed: 0, unknown: 0, overdue: 0, awaiting: 0 }
  expect(findRefusedTrial({ ...counts, rejected: 10, not_sent: 783 })).toBe(
    'The service rejected all of the first 10 rows',
  )
  expect(findRefusedTrial({ ...counts, rejected: 1, not_sent: 792 })).toBe(
    'The service rejected the first row',
  )
  expect(findRefusedTrial({ ...counts, rejected: 9, succeeded: 1, not_sent: 783 })).toBeNull()
  expect(findRefusedTrial({ ...counts, rejected: 9, awaiting: 1, not_sent: 783 })).toBeNull()
  expect(findRefusedTrial({ ...counts, rejected: 0, not_sent: 793 })).toBeNull()
})
