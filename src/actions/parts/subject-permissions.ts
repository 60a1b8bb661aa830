import type { SubjectUpdate } from '../../gallery/subject-update.ts'
import { ActionError } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { ActionCall, Caller, ConditionalPermission } from '../action.ts'

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
  },
  force: { permission: 'faces:force', condition: 'for `force`' },
} as const satisfies Readonly<Record<string, ConditionalPermission>>

/** @throws ActionError FORBIDDEN. The call is then neither billed nor stored. */
export function requirePermission(
  { permissions }: Pick<Caller, 'permissions'>,
  permission: string,
  reason: string,
): void {
  if (permissions.includes('*') || permissions.includes(permission)) return
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
  for (const field of ['removeFaceIds', 'addFaceIds'] as const)
    if ((params[field] ?? []).length > 0)
      requirePermission(
        caller,
        changePermissions.faces.permission,
        `params.${field}: a subject would lose faces`,
      )
}

type TakenFaces = Readonly<
  Partial<Record<'removeFaceIds' | 'addFaceIds', readonly string[] | undefined>>
>

/**
 * Requires the permissions for an update of an existing subject: before the images are analyzed, and
 * again in the transaction that writes it.
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
