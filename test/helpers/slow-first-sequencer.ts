import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Short files that take more than ten seconds: they build, or wait for other processes and for timeouts. */
const SLOW =
  /(house-rules\/build|golden\/golden|scripts\/pack-(cli|binary)|crash\/crash|faults\/faults|bulk\/\S+|source\/heap-bombs|load\/load-run|taken-over-page|shells\/flows)\.test\.ts$/

/**
 * Starts slow files first. If no earlier run left durations behind, as in CI, Vitest goes by size, and would begin
 * with these when nothing else is left to do while they wait.
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
