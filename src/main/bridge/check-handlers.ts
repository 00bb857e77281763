import { bridge } from './implementer.ts'

/** What is wrong with the rows of a run. */
export const checkHandlers = bridge.check.router({
  problems: bridge.check.problems.handler(({ context, input }) => context.engine.readProblems(input.runId)),
})
