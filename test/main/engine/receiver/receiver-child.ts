import { Receiver } from '../../../../src/main/engine/receiver/receiver.ts'
import { readReceiverSettings } from '../../../../src/main/engine/receiver/receiver-settings.ts'

// A process that runs only a receiver and prints its address and secret.
const [workspace = ''] = process.argv.slice(2)
const { secret } = readReceiverSettings(workspace)
const receiver = new Receiver({ workspace }, ({ baseUrl, role }) => {
  process.stdout.write(`${JSON.stringify({ baseUrl, role, secret })}\n`)
})
await receiver.start()
