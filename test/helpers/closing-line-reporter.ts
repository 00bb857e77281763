import type { Reporter, TestModule } from 'vitest/node'

/** Prints, as the very last line, `N passed, N failed, N skipped`: a closing line that any CI can count. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that does not load, or whose set-up fails, has no failed test to count; it is a failure all the same.
      if (counts.failed === before && module.state() === 'failed') counts.failed += 1
    }
    const failed = counts.failed + counts.pending + unhandledErrors.length
    process.once('exit', () => {
      process.stdout.write(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped\n`)
    })
  }
}
