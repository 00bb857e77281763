import { existsSync } from 'node:fs'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { toJournalFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { judgeHistories } from './judge-history.ts'
import { readRunHistory } from './read-run-history.ts'
import { createRecording, readRecording } from './recording.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { sayVerdict } from './say-fault.ts'

const USAGE = `usage: npm run check:history -- RUN… RECORDING [--workspace DIR] [--resent-index-adds]
       npm run check:history -- --record RECORDING --to URL [--port N]
RUN is a journal, or the id of a run of the workspace. RECORDING is what a service saw, in JSON Lines.
`

/** Where it writes. */
interface Output {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

/**
 * Runs `npm run check:history` with these arguments: compares runs with a recording, or makes a recording in
 * front of a service until interrupted. Returns the exit code; throws an `Error` for unreadable input.
 */
export async function checkHistory(args: string[], out: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      workspace: { type: 'string' },
      'resent-index-adds': { type: 'boolean', default: false },
      record: { type: 'string' },
      to: { type: 'string' },
      port: { type: 'string', default: '0' },
    },
    allowPositionals: true,
  })
  const { record, to, workspace } = values
  if (record !== undefined && to !== undefined && positionals.length === 0 && /^\d{1,5}$/.test(values.port)) {
    return recordUntilStopped(record, to, Number(values.port), out)
  }
  const recording = positionals.pop()
  if (record !== undefined || to !== undefined || recording === undefined || positionals.length === 0) {
    out.stderr.write(USAGE)
    return 2
  }
  const runs = positionals.map((run) => readRunHistory(toFile(run, workspace)))
  // A retry stands for its whole run.
  const wholes = new Map(runs.map((run) => [run.runId, run]))
  const verdict = judgeHistories([...wholes.values()], readRecording(recording), {
    resentIndexAdds: values['resent-index-adds'],
  })
  out.stdout.write(sayVerdict(verdict))
  return verdict.faults.length === 0 ? 0 : 1
}

function toFile(run: string, workspace: string | undefined): string {
  return workspace === undefined || existsSync(run) ? run : toJournalFile(workspace, run)
}

async function recordUntilStopped(file: string, to: string, port: number, out: Output): Promise<number> {
  const proxy = await startRecordingProxy({ to, port, recording: createRecording(file) })
  out.stdout.write(`${proxy.baseUrl} passes requests on to ${to} and records them. Stop with Ctrl+C.\n`)
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
  await proxy.close()
  return 0
}
