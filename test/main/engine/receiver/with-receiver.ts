import { onTestFinished } from 'vitest'
import { toCallbackPath } from '../../../../src/main/engine/receiver/addresses.ts'
import {
  type InboxCallback,
  type InboxCounts,
  InboxReader,
} from '../../../../src/main/engine/receiver/inbox.ts'
import {
  Receiver,
  type ReceiverClock,
  type ReceiverStanding,
  type ReceiverTask,
} from '../../../../src/main/engine/receiver/receiver.ts'
import { readReceiverSettings } from '../../../../src/main/engine/receiver/receiver-settings.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

/** A receiver in this thread and its workspace. */
export interface TestReceiver {
  receiver: Receiver
  workspace: string
  secret: string
  /** Its roles and addresses, the newest last. */
  standings: ReceiverStanding[]
  readonly baseUrl: string
  toUrl(runToken: string, item: number): string
  read(runToken: string): InboxCallback[]
  counts(): InboxCounts
}

/** Creates a receiver, by default in a workspace of its own, that closes after the running test. */
export function createTestReceiver(task: Partial<ReceiverTask> = {}, clock?: ReceiverClock): TestReceiver {
  const workspace = task.workspace ?? createTemporaryFolder()
  const standings: ReceiverStanding[] = []
  const receiver = new Receiver({ workspace, ...task }, (standing) => standings.push(standing), clock)
  const reader = new InboxReader(workspace)
  onTestFinished(async () => {
    reader.close()
    await receiver.close()
  })
  const { secret } = readReceiverSettings(workspace)
  const test: TestReceiver = {
    receiver,
    workspace,
    secret,
    standings,
    get baseUrl() {
      return standings.at(-1)?.baseUrl ?? ''
    },
    toUrl: (runToken, item) => `${test.baseUrl}${toCallbackPath(secret, { runToken, item })}`,
    read: (runToken) => reader.readAfter(runToken, 0, 1_000),
    counts: () => receiver.counts(),
  }
  return test
}

/** Creates and starts a receiver. */
export async function startTestReceiver(
  task: Partial<ReceiverTask> = {},
  clock?: ReceiverClock,
): Promise<TestReceiver> {
  const test = createTestReceiver(task, clock)
  await test.receiver.start()
  return test
}

/** Posts a body and returns the answer's status. */
export async function postCallback(url: string, body = '{}'): Promise<number> {
  const response = await fetch(url, { method: 'POST', body })
  await response.arrayBuffer()
  return response.status
}

/** A clock whose waits end only when the test says so; its time stands still. */
export function createManualClock(
  nowMs = 1_800_000_000_000,
): ReceiverClock & { pass(): void; nowMs(): number } {
  let waiting: (() => void)[] = []
  return {
    nowMs: () => nowMs,
    nowUs: () => nowMs * 1000,
    wait: (_ms, signal) =>
      new Promise((resolve, reject) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
    pass() {
      const ended = waiting
      waiting = []
      for (const end of ended) end()
    },
  }
}
