import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRecording, type Recording, readClockUs, toArrival } from './history/recording.ts'

/** The tests' own service, which records what arrives. */
export interface RecordingService {
  baseUrl: string
  /** How often each post_id was accepted, i.e. answered 200. */
  accepted: Map<string, number>
  /** The user_id with which each post_id was last accepted. */
  userIds: Map<string, string>
  /** How often each post_id arrived. */
  arrived: Map<string, number>
  /** Every arrival, for `judgeHistory`. */
  recording: Recording
  close(): Promise<void>
}

/** Starts the service. `refuse` returns the status for refusing an arrival; null to accept it. */
export async function startRecordingService(
  refuse: (postId: string, arrivals: number) => 400 | 503 | null = () => null,
  recording: Recording = createRecording(),
): Promise<RecordingService> {
  const accepted = new Map<string, number>()
  const userIds = new Map<string, string>()
  const arrived = new Map<string, number>()
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const atUs = readClockUs()
      const answer = (status: number, told: unknown): void => {
        const text = JSON.stringify(told)
        const arrival = { path: request.url ?? '', body }
        recording.note(toArrival(arrival, { atUs, status, took: status === 200, answer: text }))
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(text)
      }
      const submitted = JSON.parse(body) as { post_id: unknown; user_id: unknown }
      const postId = String(submitted.post_id)
      const arrivals = (arrived.get(postId) ?? 0) + 1
      arrived.set(postId, arrivals)
      const status = refuse(postId, arrivals)
      if (status !== null) {
        const code = status === 400 ? 'INVALID_PARAM' : 'BUSY'
        answer(status, { error: true, status, error_code: code, message: 'no', show_alert: false })
        return
      }
      accepted.set(postId, (accepted.get(postId) ?? 0) + 1)
      userIds.set(postId, String(submitted.user_id))
      const rules = postId.endsWith('7') ? [{ rule_id: 'r7', rule_name: 'Ends in seven' }] : []
      const echoed = { post_id: postId, user_id: submitted.user_id }
      answer(200, { task_id: `t-${postId}`, ...echoed, triggered_rules: rules })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    accepted,
    userIds,
    arrived,
    recording,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
