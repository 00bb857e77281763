import { keepFilesPrivate } from '../engine/workspace/file-permissions.ts'
import { runCli } from './run-cli.ts'

keepFilesPrivate()
// Node takes FORCE_COLOR for set if it is empty.
if (process.env['FORCE_COLOR'] === '') delete process.env['FORCE_COLOR']
process.exitCode = await runCli(process.argv.slice(2))
