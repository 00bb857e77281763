import { keepFilesPrivate } from '../engine/workspace/file-permissions.ts'
import { runCli } from './run-cli.ts'

keepFilesPrivate()
// Node treats an empty FORCE_COLOR as set.
if (process.env['FORCE_COLOR'] === '') delete process.env['FORCE_COLOR']
process.exitCode = await runCli(process.argv.slice(2))
