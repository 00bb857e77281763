import { keepFilesPrivate } from '../engine/workspace/file-permissions.ts'
import { runCli } from './run-cli.ts'

keepFilesPrivate()
process.exitCode = await runCli(process.argv.slice(2))
