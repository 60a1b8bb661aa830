import type { SubjectUpdate } from '../../gallery/subject-update.ts'
import { ActionError } from '../../lib/errors.ts'
import { hasPermission } from '../../lib/has-permission.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { ReadTx } from '../../store/database.ts'
import type { ActionCall, Caller, ConditionalPermission } from '../action.ts'
import { isFlagSet } from './pictures/extract-pictures.ts'

/**
 * The permissions that a call needs beside that of its action, by what it does. A key that only
 * enrolls can then neither rename nor take over a subject, and one that only updates cannot delete it.
 */
export const changePermissions = {
  fields: {
    permission: 'svc.updateSubject',
    condition: 'to change the names, groups, attributes or expiry of an existing subject',
  },
  expiry: {
    permission: 'svc.deleteSubject',
    condition: 'to let an existing subject expire earlier',
  },
  faces: {
    permission: 'svc.deleteSubject',
    condition: 'to remove faces of a subject, or to move them to another one',
    isNeeded: (params: unknown) => takenFieldsOf(Object(params)).length > 0,
  },
  force: {
    permission: 'faces:force',
    condition: 'for `force`',
    isNeeded: (params: unknown) => isFlagSet(params, 'force'),
  },
} satisfies Readonly<Record<string, ConditionalPermission>>

/** @throws ActionError FORBIDDEN. The call is then neither billed nor stored. */
export function requirePermission(
  { permissions }: Pick<Caller, 'permissions'>,
  permission: string,
  reason: string,
): void {
  if (hasPermission(permissions, permission)) return
  throw new ActionError('FORBIDDEN', `${reason}. This key lacks the permission ${permission}.`)
}

/** @throws ActionError FORBIDDEN if the call would add a face without a comparison. */
export function requireForcePermission({
  params,
  caller,
}: Pick<ActionCall<{ readonly force: boolean }>, 'params' | 'caller'>): void {
  if (!params.force) return
  const reason = 'params.force: the face would be added even if it shows another person'
  requirePermission(caller, changePermissions.force.permission, reason)
}

/**
 * A key without this permission could add a similar face to a subject and take away all others, so
 * that the subject would be another person.
 *
 * @throws ActionError FORBIDDEN if the call would take a face away from a subject.
 */
export function requireFacePermission({
  params,
  caller,
}: Pick<ActionCall<TakenFaces>, 'params' | 'caller'>): void {
  for (const field of takenFieldsOf(params))
    requirePermission(
      caller,
      changePermissions.faces.permission,
      `params.${field}: a subject would lose faces`,
    )
}

const takenFields = ['removeFaceIds', 'addFaceIds'] as const

type TakenFaces = { readonly [field in (typeof takenFields)[number]]?: unknown }

/** Returns the fields of any parameters that contain faces to remove or to move. */
function takenFieldsOf(params: TakenFaces): readonly string[] {
  return takenFields.filter((field) => Array.isArray(params[field]) && params[field].length > 0)
}

/**
 * Requires the permissions for an update of an existing subject, in the transaction that writes it.
 *
 * @throws ActionError FORBIDDEN.
 */
export async function requireChangePermissions(
  { caller, services: { subjects } }: Pick<ActionCall<unknown>, 'caller' | 'services'>,
  reading: ReadTx,
  subject: SubjectRow,
  update: SubjectUpdate,
): Promise<void> {
  const { fields, expiry } = changePermissions
  if (!(await subjects.changes(reading, subject, update))) return
  const { subjectId, expiresAtUtc: before } = subject
  requirePermission(caller, fields.permission, `the call would change the subject ${subjectId}`)
  const { expiresAtUtc } = update
  if (expiresAtUtc && (before === null || Date.parse(expiresAtUtc) < Date.parse(before)))
    requirePermission(
      caller,
      expiry.permission,
      `params.expiresAtUtc: the subject ${subjectId} would expire earlier`,
    )
}
