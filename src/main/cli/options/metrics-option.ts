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
      "serve a load test's figures for Prometheus at http://127.0.0.1:<n>/metrics, by k6's names; 0 takes a free port",
      createIntegerParser(0, 65_535),
    )
}
