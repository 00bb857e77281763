import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files that take more than ten seconds: they build, or wait for other processes and for timeouts. */
const SLOW =
  /(house-rules\/build|golden\/golden|scripts\/pack-(cli|binary)|crash\/crash|faults\/faults|bulk\/\S+|source\/heap-bombs|load\/load-run|taken-over-page|shells\/flows)\.test\.ts$/

/**
 * Starts slow files first. Without durations from an earlier run, as in CI, Vitest orders by size, and would
 * start these when nothing else is left to do while they wait.
 */
export class SlowFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [
      ...sorted.filter(({ moduleId }) => SLOW.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !SLOW.test(moduleId)),
    ]
  }
}
