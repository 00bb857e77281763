import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { RunSummary } from '../../shared/run/run.ts'
import { APP_VERSION } from '../../shared/version.ts'

const README = `What is in this folder, and what is not

about.json   versions of Sluice and of the system
runs.json    for each run: its id, state, times, and how many rows ended how
logs         what happened to the app: starts, crashes, beginnings and ends of runs

It contains no cells, answers, file names, addresses or keys. Nothing has been sent to anyone: look through the
folder, remove what you do not want to share, and send it to whoever helps you.
`

/** Describes a run by counts and times, without anything that a person typed or a service answered. */
function describeRun({
  run_id,
  state,
  mode,
  api,
  created_at,
  started_at,
  ended_at,
  rows,
  requests,
}: RunSummary) {
  return { run_id, state, mode, api, created_at, started_at, ended_at, rows, requests }
}

/**
 * Writes a new folder of diagnostics below `parent` and returns its path; its name contains the time `now`.
 * Throws if it cannot be written.
 */
export function writeDiagnostics(
  parent: string,
  { logFolder, runs, now }: { logFolder: string; runs: readonly RunSummary[]; now: Date },
): string {
  const folder = join(parent, `sluice-diagnostics-${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}`)
  mkdirSync(folder, { recursive: true })
  const { electron = null, chrome = null, node } = process.versions
  const { platform, arch } = process
  const about = { sluice: APP_VERSION, electron, chrome, node, platform, arch, memoryBytes: totalmem() }
  writeFileSync(join(folder, 'README.txt'), README)
  writeFileSync(join(folder, 'about.json'), `${JSON.stringify(about, null, 2)}\n`)
  writeFileSync(join(folder, 'runs.json'), `${JSON.stringify(runs.map(describeRun), null, 2)}\n`)
  if (existsSync(logFolder)) cpSync(logFolder, join(folder, 'logs'), { recursive: true })
  return folder
}
