import { toExportName } from './export-name.ts'
import { bridge } from './implementer.ts'

/** Results as files. */
export const exportsHandlers = bridge.exports.router({
  create: bridge.exports.create.handler(async ({ context: { engine, host }, input }) => {
    const { runId, format, targetId, lossless, filter } = input
    const { name } = await engine.summarizeRun(runId)
    const place = await host.placeExport({ targetId, format, name: toExportName(name, runId, format) })
    const result = await engine.exportRun(runId, {
      file: place.file,
      ...(lossless === undefined ? {} : { lossless }),
      ...(filter === undefined ? {} : { filter }),
    })
    return place.publish(result)
  }),
})
