import type { ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { ADMIN_TOKEN_HEADER } from '../../src/main/sandbox/admin-access.ts'
import { spawnSluice } from '../main/cli/spawn-sluice.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

/** A sandbox in its own process, which accepts one key. */
export interface SandboxProcess {
  baseUrl: string
  /** Calls an admin route, whose path begins after `/sandbox/admin`, and reads its JSON. */
  admin(method: string, path: string, body?: unknown): Promise<unknown>
  /** The requests of all tasks that it accepted, in order. */
  readTasks(): Promise<Record<string, unknown>[]>
}

/** Starts a sandbox that accepts only this key; it ends with the current test. */
export async function startSandboxProcess(key: string): Promise<SandboxProcess> {
  let process: ChildProcess | null = null
  const address = await new Promise<{ base_url: string; admin_token: string }>((resolve, reject) => {
    const ended = spawnSluice(['sandbox', '--json', '--key-env', 'SANDBOX_KEY'], {
      workspace: createTemporaryFolder(),
      env: { SANDBOX_KEY: key },
      onStart: (child) => {
        process = child
      },
      onStdout: (text) => {
        if (text.includes('\n')) resolve(JSON.parse(text))
      },
    })
    onTestFinished(async () => {
      process?.kill('SIGTERM')
      await ended
    })
    ended.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  const admin: SandboxProcess['admin'] = async (method, path, body) => {
    const answer = await fetch(`${address.base_url}/sandbox/admin${path}`, {
      method,
      headers: {
        [ADMIN_TOKEN_HEADER]: address.admin_token,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  return {
    baseUrl: address.base_url,
    admin,
    readTasks: async () => {
      const { tasks } = (await admin('GET', '/tasks?limit=10000')) as {
        tasks: { request: Record<string, unknown> }[]
      }
      return tasks.map(({ request }) => request)
    },
  }
}
