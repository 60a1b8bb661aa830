/** Returns whether these permissions of a key contain one; `*` contains every permission. */
export function hasPermission(granted: readonly string[], permission: string): boolean {
  return granted.includes('*') || granted.includes(permission)
}
