import { toBetaShare } from '../../src/shared/load/statistics.ts'

/** Accepted share of false alarms among pairs within the margin. */
const FALSE_ALARMS = 0.01

/** One correct judgement in this many is called wrong by chance. */
const LEVEL = 0.001

/**
 * Whether more pairs within the margin failed than chance explains if the true share is 1 %: 1 of 30 does not
 * show that, 25 of 1,000 do. The number of failures is binomial.
 */
export function failsTooOften(failed: number, pairs: number): boolean {
  return failed > 0 && toBetaShare(FALSE_ALARMS, failed, pairs - failed + 1) < LEVEL
}
