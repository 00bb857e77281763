import { Button, type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'
import { useSyncExternalStore } from 'react'

const ACCENT: MantineColorsTuple = [
  '#eaf2fb',
  '#cfe1f5',
  '#a7caec',
  '#7bb0e2',
  '#5096d6',
  '#317fc6',
  '#2669a9',
  '#1b5e9e',
  '#164d82',
  '#103a63',
]

const DANGER: MantineColorsTuple = [
  '#fdeae8',
  '#fad2ce',
  '#f5a9a2',
  '#ee7d73',
  '#e0574b',
  '#c9402f',
  '#b3362c',
  '#b02318',
  '#8f1c13',
  '#6e140d',
]

const GRAY: MantineColorsTuple = [
  '#f5f6f8',
  '#eceff2',
  '#d9dee4',
  '#cfd5dc',
  '#b8c0c9',
  '#98a2ad',
  '#7f8a96',
  '#4f5964',
  '#2f363d',
  '#181c21',
]

const DARK: MantineColorsTuple = [
  '#e7eaed',
  '#c3cad1',
  '#a9b3bd',
  '#78838f',
  '#3a424a',
  '#2f363d',
  '#22272c',
  '#1b1f23',
  '#14171a',
  '#0f1214',
]

const SCHEME_VARIABLES = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-bright': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-2)',
  '--mantine-color-placeholder': 'var(--text-2)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--state-failed)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-accent-filled': 'var(--accent-fill)',
  '--mantine-color-accent-filled-hover': 'var(--accent-fill-hover)',
  '--mantine-color-accent-light': 'var(--accent-wash)',
  '--mantine-color-accent-light-hover': 'var(--selected)',
  '--mantine-color-accent-light-color': 'var(--accent)',
  '--mantine-color-accent-outline': 'var(--accent)',
  '--mantine-color-accent-text': 'var(--accent)',
  '--mantine-primary-color-filled': 'var(--accent-fill)',
  '--mantine-primary-color-filled-hover': 'var(--accent-fill-hover)',
  '--mantine-primary-color-light-color': 'var(--accent)',
}

/** Passes the tokens of `tokens.css` to Mantine, so that its components have no colours of their own. */
export const toMantineVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: SCHEME_VARIABLES,
  dark: SCHEME_VARIABLES,
})

const SMALL = { size: 'xs' } as const

/** Buttons in rows and heads of tables are lower, with text of the surrounding size. */
function toButtonVariables(size: string | number | undefined): Record<`--${string}`, string> {
  if (typeof size !== 'string' || !size.startsWith('compact')) {
    return { '--button-height': 'var(--control-height)' }
  }
  return {
    '--button-height': 'var(--control-height-compact)',
    '--button-padding-x': 'var(--space-2)',
    '--button-fz': 'var(--text-sm)',
  }
}

/** The look of Mantine's components: small, square and quiet; every value comes from `tokens.css`. */
export const theme = createTheme({
  colors: { accent: ACCENT, danger: DANGER, gray: GRAY, dark: DARK },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  fontFamily: 'var(--font-text)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: {
    xs: 'var(--text-sm)',
    sm: 'var(--text-md)',
    md: 'var(--text-md)',
    lg: 'var(--text-lg)',
    xl: 'var(--text-xl)',
  },
  spacing: {
    xs: 'var(--space-2)',
    sm: 'var(--space-3)',
    md: 'var(--space-4)',
    lg: 'var(--space-5)',
    xl: 'var(--space-6)',
  },
  radius: {
    xs: 'var(--radius)',
    sm: 'var(--radius)',
    md: 'var(--radius-large)',
    lg: 'var(--radius-large)',
    xl: 'var(--radius-large)',
  },
  shadows: { md: 'var(--shadow)', xl: 'var(--shadow)' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: Button.extend({
      defaultProps: { ...SMALL, variant: 'default' },
      vars: (_, { size }) => ({ root: toButtonVariables(size) }),
    }),
    Input: { vars: () => ({ wrapper: { '--input-height': 'var(--control-height)' } }) },
    ActionIcon: { defaultProps: { size: 'md', variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: SMALL },
    PasswordInput: { defaultProps: SMALL },
    NumberInput: { defaultProps: SMALL },
    Select: { defaultProps: { ...SMALL, allowDeselect: false, comboboxProps: { withinPortal: true } } },
    NativeSelect: { defaultProps: SMALL },
    Autocomplete: { defaultProps: SMALL },
    MultiSelect: { defaultProps: SMALL },
    TagsInput: { defaultProps: SMALL },
    Textarea: { defaultProps: SMALL },
    SegmentedControl: {
      defaultProps: SMALL,
      vars: () => ({ root: { '--sc-padding': '0.125rem var(--space-3)' } }),
    },
    Switch: { defaultProps: { size: 'sm', withThumbIndicator: false } },
    RadioGroup: { defaultProps: SMALL },
    Radio: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
    Modal: {
      defaultProps: {
        centered: true,
        transitionProps: { duration: 120 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Drawer: { defaultProps: { position: 'right', transitionProps: { duration: 120 } } },
  },
})

/** Cached until the window is resized, as reading it makes the browser compute styles; null until needed. */
let remPx: number | null = null

const remListeners = new Set<() => void>()

function readRemAgain(): void {
  remPx = null
  for (const changed of remListeners) changed()
}

function subscribe(changed: () => void): () => void {
  // Adding it again has no effect. It stays, since the window may be resized while no screen needs the size.
  window.addEventListener('resize', readRemAgain)
  remListeners.add(changed)
  return () => remListeners.delete(changed)
}

function readRootFontSize(): number {
  remPx ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  return remPx
}

/** CSS pixels of one rem; follows the window, since it is larger on large displays. */
export function useRem(): number {
  return useSyncExternalStore(subscribe, readRootFontSize)
}
