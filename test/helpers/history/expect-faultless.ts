import { expect, onTestFinished } from 'vitest'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { judgeHistories } from './judge-history.ts'
import { readRunHistory } from './read-run-history.ts'
import type { Recording } from './recording.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import type { HistoryVerdict } from './verdict.ts'

/** Starts a proxy in front of a service that records all traffic, until the current test ends. */
export async function recordService(to: string, recording: Recording): Promise<string> {
  const { baseUrl, close } = await startRecordingProxy({ to, recording })
  onTestFinished(close)
  return baseUrl
}

/** Expects that a workspace's runs agree with what the service saw; returns how their rows ended. */
export function expectFaultless(
  workspace: string,
  runIds: readonly string[],
  { events }: Pick<Recording, 'events'>,
): Omit<HistoryVerdict, 'faults'> {
  const runs = runIds.map((runId) => readRunHistory(toJournalFile(workspace, runId)))
  const { faults, ...rows } = judgeHistories(runs, events)
  expect(faults).toEqual([])
  return rows
}
