/** The server enforces the same minimum. */
const passwordLengthMin = 12

/** Returns the error text of a password that is too short, else null. */
export function passwordLengthError(password: string): string | null {
  return password.length < passwordLengthMin ? `At least ${passwordLengthMin} characters` : null
}

export const passwordToggleProps = { 'aria-label': 'Show or hide password' } as const
