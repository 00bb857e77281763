/**
 * An environment variable that makes the sending threads stand still, to see that the report says so: `200/1000` is
 * for 200 milliseconds, each time another 1,000 have passed.
 */
export const STALL_VARIABLE = 'SLUICE_LOAD_STALL'

/** Blocks this thread now and again, as the environment asks; it does not where nothing is asked. */
export function stallAsAsked(env: NodeJS.ProcessEnv): void {
  const [, forMs, everyMs] = /^(\d+)\/(\d+)$/.exec(env[STALL_VARIABLE] ?? '') ?? []
  if (forMs === undefined || everyMs === undefined) return
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  setInterval(() => Atomics.wait(nothing, 0, 0, Number(forMs)), Number(everyMs)).unref()
}
