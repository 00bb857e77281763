import type { Reporter, TestModule } from 'vitest/node'
import { FLOWS, type FlowName, toSuiteName, whyNotIn } from '../shells/flow-list.ts'
import { chooseShells, type ShellChoice } from './shells/choose-shells.ts'

/**
 * Prints `N passed, N failed, N skipped` as the very last line, which any CI can count. If flows were walked,
 * the lines above say in which shells, and why not in the others.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      const before = counts.failed
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that does not load, or whose set-up fails, has no failed test but still counts as a failure.
      if (counts.failed === before && module.state() === 'failed') counts.failed += 1
    }
    const failed = counts.failed + counts.pending + unhandledErrors.length
    const flows = modules.filter((module) => module.project.name === 'shells')
    const shells = flows.length > 0 ? chooseShells().map((shell) => describeShell(shell, flows)) : []
    process.once('exit', () => {
      process.stdout.write(shells.map((line) => `\n${line}`).join(''))
      process.stdout.write(`\n${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped\n`)
    })
  }
}

/** How many flows were walked in a shell, and why others were not. */
function describeShell(shell: ShellChoice, modules: readonly TestModule[]): string {
  if ('why' in shell) return `Shell ${shell.name} did not run: ${shell.why}.`
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const ran = tests.filter(
    (test) => test.fullName.includes(toSuiteName(shell.name)) && /passed|failed/.test(test.result().state),
  )
  const flows = Object.keys(FLOWS) as FlowName[]
  const never = flows.flatMap((flow) => {
    const why = whyNotIn(flow, shell.name)
    return why === null ? [] : [`; never ${flow}: ${why}`]
  })
  const version = shell.version === undefined ? '' : ` ${shell.version}`
  return `Shell ${shell.name}${version} ran ${ran.length} of ${flows.length} flows${never.join('')}.`
}
