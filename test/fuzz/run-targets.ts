import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { COMMAND_LINE_TARGETS } from './command-line-targets.ts'
import { EXCHANGE_TARGETS } from './exchange-targets.ts'
import type { FuzzTarget } from './fuzz-target.ts'
import { SOURCE_TARGETS } from './source-targets.ts'
import { TEXT_TARGETS } from './text-targets.ts'

/** All fuzz targets. */
export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...SOURCE_TARGETS,
  ...TEXT_TARGETS,
  ...EXCHANGE_TARGETS,
  ...COMMAND_LINE_TARGETS,
]

/** The result of a fuzz run. */
export interface FuzzSummary {
  passed: number
  failed: number
  /** Unhandled rejections and uncaught exceptions. */
  unhandled: number
}

/** Spreads the cases over the targets by weight and reports a line for each target. */
export async function runTargets(
  targets: readonly FuzzTarget[],
  cases: number,
  seed: number,
  report: (line: string) => void,
): Promise<FuzzSummary> {
  const summary: FuzzSummary = { passed: 0, failed: 0, unhandled: 0 }
  const note = (error: unknown) => {
    summary.unhandled += 1
    report(`unhandled: ${error instanceof Error ? error.stack : String(error)}`)
  }
  process.on('unhandledRejection', note).on('uncaughtException', note)
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  let weight = 0
  let given = 0
  try {
    for (const target of targets) {
      // Rounding carries over to the next target, so that the sum is the number asked for.
      weight += target.weight
      const own = Math.round((cases * weight) / total) - given
      given += own
      if (own === 0) continue
      const startedMs = performance.now()
      const result = await target.run(own, seed)
      const tookS = ((performance.now() - startedMs) / 1000).toFixed(1)
      report(
        `${result.failure === null ? 'ok    ' : 'FAILED'} ${String(result.cases).padStart(8)}  ${tookS.padStart(6)} s  ${target.name}`,
      )
      if (result.failure === null) summary.passed += result.cases
      else {
        summary.failed += 1
        summary.passed += result.cases - 1
        report(result.failure)
      }
    }
    // Rejections are reported one turn of the event loop later.
    await new Promise((resolve) => setImmediate(resolve))
    return summary
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note)
  }
}
