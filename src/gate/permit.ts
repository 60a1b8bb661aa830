import { ActionError } from '../lib/errors.ts'
import type { KeyFacts } from '../store/keys.ts'

/**
 * May this key do this? Permissions bear the names of the actions; `*` is all of them.
 *
 * @throws ActionError FORBIDDEN that names the permission that is missing.
 */
export function permit(key: Pick<KeyFacts, 'permissions'>, permission: string): void {
  if (key.permissions.includes('*') || key.permissions.includes(permission)) return
  throw new ActionError('FORBIDDEN', `This key lacks the permission ${permission}.`)
}
