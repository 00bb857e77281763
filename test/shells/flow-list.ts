// User tasks from start to end, the same in every shell. flows.test.ts runs each of them in each shell of
// this machine.

/**
 * What shows the screens: a browser; Electron, or a stand-in for it, with the built app; or the packed app.
 */
export const SHELLS = ['browser', 'stand-in', 'electron', 'packaged'] as const

export type ShellName = (typeof SHELLS)[number]

interface Flow {
  title: string
  /** Shells that cannot support the flow, each with the reason. */
  notIn: Partial<Record<ShellName, string>>
}

const NO_ARGUMENTS = 'sluice open takes no file'
const NO_PLANS = 'a browser opens no plan files'
const NO_QUESTION = 'Ctrl-C stops the runs without a question'
const NO_DIALOGS = 'its fuses let no test answer dialogs of the system'

/** Each flow by its name, with its test title. */
export const FLOWS = {
  crash: {
    title: 'takes a new user to the first triggered rules, and after a crash resumes without losing a row',
    notIn: {},
  },
  drop: {
    title: 'reads a file that was dropped on it, and sends every row',
    notIn: {},
  },
  'second start': {
    title: 'opens the file it was started with, and the file of a second start, which then ends',
    notIn: { browser: NO_ARGUMENTS },
  },
  plan: {
    title: 'shows what a plan file does that it was started with, and sends its rows when told to',
    notIn: { browser: NO_PLANS },
  },
  quit: {
    title: 'asks before it quits during a run: the run goes on, stops and is resumed, or finishes first',
    notIn: { browser: NO_QUESTION, packaged: NO_DIALOGS },
  },
} as const satisfies Record<string, Flow>

export type FlowName = keyof typeof FLOWS

/** Why a shell cannot have a flow; null if it can. */
export function whyNotIn(flow: FlowName, shell: ShellName): string | null {
  const { notIn }: Flow = FLOWS[flow]
  return notIn[shell] ?? null
}

/** The name of a shell's tests. */
export function toSuiteName(shell: ShellName): string {
  return `the ${shell} shell`
}
