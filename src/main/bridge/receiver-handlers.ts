import { bridge } from './implementer.ts'

const { receiver } = bridge

/** The receiver of callbacks. */
export const receiverHandlers = receiver.router({
  status: receiver.status.handler(({ context: { engine } }) => engine.receiverStatus()),
  open: receiver.open.handler(({ context: { engine } }) => engine.openReceiver()),
  test: receiver.test.handler(async ({ context: { engine, productionGate }, input: { publicUrl } }) => {
    productionGate.refuseAddress(publicUrl)
    await engine.openReceiver()
    await engine.testReceiver(publicUrl)
    return {}
  }),
})
