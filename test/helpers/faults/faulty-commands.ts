import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { SluiceResult } from '../../main/cli/spawn-sluice.ts'
import { BUNDLED_COMMANDS } from '../build/bundles.ts'
import { buildFaultLibrary } from './build-fault-library.ts'
import { type Fault, FaultPlan } from './fault-plan.ts'

/** The result of a command during which a file call failed. */
export interface FaultyResult extends SluiceResult {
  /** The first failed call and its file; null if none failed. */
  failure: string | null
  /** Number of calls that matched the fault. */
  calls: number
}

/** The command line in its own process, whose file calls fail as a test wants. */
export interface FaultyCommands {
  /** Only calls on files in this folder are counted and fail. */
  folder: string
  /** Runs a command with `fault` active. Rejects if the process died. */
  run(args: readonly string[], options: FaultyOptions): Promise<FaultyResult>
  close(): void
}

interface FaultyOptions {
  workspace: string
  fault?: Fault | null
  env?: Record<string, string>
}

/** Starts the process with an empty folder. {@link FaultyCommands.close} ends it. */
export function startFaultyCommands(root: string): FaultyCommands {
  const folder = join(root, 'watched')
  mkdirSync(folder)
  const planFile = join(root, 'plan')
  const plan = new FaultPlan(planFile)
  const child = fork(BUNDLED_COMMANDS, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      LD_PRELOAD: buildFaultLibrary(),
      SLUICE_FAULT_FOLDER: `${folder}/`,
      SLUICE_FAULT_PLAN: planFile,
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  return {
    folder,
    async run(args, { workspace, fault = null, env = {} }) {
      plan.arm(fault)
      child.send({ args, env: { SLUICE_WORKSPACE: workspace, ...env } })
      const result = await untilAnswered(child).catch(() => {
        throw new Error(`the process died of \`${args.join(' ')}\` after ${plan.readFailure()}\n${said}`)
      })
      const found = { ...result, failure: plan.readFailure(), calls: plan.readCount() }
      plan.arm(null)
      return found
    },
    close() {
      child.kill()
      plan.close()
    },
  }
}

function untilAnswered(child: ChildProcess): Promise<SluiceResult> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', onMessage)
      child.off('exit', onExit)
    }
    const onMessage = (result: unknown) => {
      settle()
      resolve(result as SluiceResult)
    }
    const onExit = (code: number | null) => {
      settle()
      reject(new Error(`ended with ${code}`))
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}
