import { toBetaShare } from '../../src/shared/load/statistics.ts'

/** Share of the pairs within the margin that may fail. */
const FALSE_ALARMS = 0.01

/** Of so many judgements that are right, one is called wrong by chance. */
const LEVEL = 0.001

/**
 * Whether more pairs within the margin failed than chance explains if 1 % do: one of 30 says nothing about it, 25 of 1,000
 * do. Their number is binomial.
 */
export function failsTooOften(failed: number, pairs: number): boolean {
  return failed > 0 && toBetaShare(FALSE_ALARMS, failed, pairs - failed + 1) < LEVEL
}
