import { ActionError } from '../../lib/errors.ts'

/**
 * May this key do this? Permissions bear the names of the actions; `*` is all of them.
 *
 * @throws ActionError FORBIDDEN that names the permission that is missing.
 */
export function permit(permissions: readonly string[], permission: string): void {
  if (permissions.includes('*') || permissions.includes(permission)) return
  throw new ActionError('FORBIDDEN', `This key lacks the permission ${permission}.`)
}
