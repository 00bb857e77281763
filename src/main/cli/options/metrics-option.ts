import type { Command } from 'commander'
import { createIntegerParser } from './number-option.ts'

/** Whether a load test's figures can be scraped. */
export interface MetricsFlags {
  metricsPort?: number
}

/** Declares `--metrics-port`. */
export function addMetricsOption(command: Command): Command {
  return command
    .optionsGroup('Metrics:')
    .option(
      '--metrics-port <n>',
      'serve Prometheus metrics with k6 names at http://127.0.0.1:<n>/metrics; 0 picks a free port (default: off)',
      createIntegerParser(0, 65_535),
    )
}
