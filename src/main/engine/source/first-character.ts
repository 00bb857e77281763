/** Whether a code unit is a letter or digit of ASCII, as most cells begin with: what looks for other signs needs no closer look. */
export function isLetterOrDigit(code: number): boolean {
  return (code > 0x60 && code < 0x7b) || (code > 0x40 && code < 0x5b) || (code > 0x2f && code < 0x3a)
}
