/** Whether a code unit is an ASCII letter or digit: most cells begin with one and need no closer check. */
export function isLetterOrDigit(code: number): boolean {
  return (code > 0x60 && code < 0x7b) || (code > 0x40 && code < 0x5b) || (code > 0x2f && code < 0x3a)
}
