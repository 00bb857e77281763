import { bridge } from './implementer.ts'
import { toLoadOverview } from './load-overview.ts'

/** What load tests measured. */
export const loadHandlers = bridge.load.router({
  report: bridge.load.report.handler(async ({ context, input }) =>
    toLoadOverview(await context.engine.readLoadReport(input.runId)),
  ),
})
