import { z } from 'zod'
import { HttpError } from '../../../lib/errors.ts'
import {
  endFormerSecret,
  rotateKey,
  updateKey,
  type KeyChange,
} from '../../../store/tenancy/key-changes.ts'
import type { KeyWithProject } from '../../../store/tenancy/key-list.ts'
import { defineWrite } from '../../server/console-route.ts'
import { name, utcTime } from '../../server/input.ts'
import {
  key,
  keyWithSecret,
  permission,
  requireFutureExpiry,
  requireKey,
  toKeyItem,
} from './keys.ts'
import { hourMs } from '../../../lib/clock.ts'

/** Changes of an existing key. The gate reads keys at each call, so they apply to the next call. */

/** Changes the name, the permissions or the expiry of a key. An expired key can be extended. */
export const editKey = defineWrite({
  method: 'PATCH',
  path: '/keys/:keyId',
  auditAction: 'key.edit',
  body: z.strictObject({
    name: name.optional(),
    permissions: z.array(permission).min(1).optional(),
    expiresAtUtc: utcTime
      .nullable()
      .optional()
      .meta({ description: 'null: the key never expires. Absent fields do not change.' }),
  }),
  response: key,
  handle: async (call, { tx }) => {
    const { body, services } = call
    const now = new Date(services.clock())
    const before = await requireKey(tx, call, now)
    if (before.state === 'revoked')
      throw new HttpError(409, 'The key is revoked and cannot be changed. Create a new key.')
    requireFutureExpiry(body.expiresAtUtc, now)
    const change = changedFields(before, {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.permissions && { permissions: [...new Set(body.permissions)] }),
      ...(body.expiresAtUtc !== undefined && {
        expiresAtUtc: body.expiresAtUtc?.toISOString() ?? null,
      }),
    })
    if (Object.keys(change).length > 0) await updateKey(tx, before.keyId, change)
    const after = await requireKey(tx, call, now)
    const detail = { before: pickFields(before, change), after: change }
    return { response: toKeyItem(after, now), target: before.keyId, detail }
  },
})

/** Keeps the fields whose value differs from the key. The order of permissions has no meaning. */
function changedFields(before: KeyWithProject, change: KeyChange): KeyChange {
  const { permissions = before.permissions, ...fields } = change
  const isSame = new Set(permissions).symmetricDifference(new Set(before.permissions)).size === 0
  const changed = Object.entries(fields).filter(
    ([field, value]) => value !== before[field as keyof typeof fields],
  )
  return { ...Object.fromEntries(changed), ...(!isSame && { permissions }) }
}

function pickFields(row: KeyWithProject, change: KeyChange): KeyChange {
  return Object.fromEntries(
    Object.keys(change).map((field) => [field, row[field as keyof KeyChange]]),
  )
}

/** How long the former secret stays valid after a rotation, in hours. */
const overlapHours = z.union(
  [z.literal(0), z.literal(1), z.literal(24), z.literal(168)],
  'must be 0, 1, 24 or 168',
)

/** Gives a key a new secret, which only this response contains. The former one ends after the overlap. */
export const rotateKeyById = defineWrite({
  path: '/keys/:keyId/rotate',
  auditAction: 'key.rotate',
  body: z.strictObject({ overlapHours }),
  response: keyWithSecret,
  handle: async (call, { db, tx }) => {
    const now = new Date(call.services.clock())
    const before = await requireKey(tx, call, now)
    const overlapMs = call.body.overlapHours * hourMs
    const rotated = await rotateKey(db, { keyId: before.keyId, overlapMs }, now)
    if (rotated.state !== 'active') throw new HttpError(409, rotationRefusals[rotated.state])
    const after = await requireKey(tx, call, now)
    const { formerEndsAtUtc } = rotated
    const { name: keyName, last4, projectId } = after
    const detail = { name: keyName, projectId, last4, formerLast4: before.last4, formerEndsAtUtc }
    const response = { ...toKeyItem(after, now), key: rotated.key }
    return { response, target: before.keyId, detail }
  },
})

const rotationRefusals = {
  unknown: 'The account has no key with this id.',
  revoked: 'The key is revoked and cannot be rotated. Create a new key.',
  expired: 'The key is expired. Extend its expiry, then rotate it.',
} as const

/** Ends the overlap of a rotation: the former secret is rejected from the next call on. */
export const endOverlap = defineWrite({
  path: '/keys/:keyId/end-overlap',
  auditAction: 'key.endOverlap',
  response: key,
  handle: async (call, { tx }) => {
    const now = new Date(call.services.clock())
    const before = await requireKey(tx, call, now)
    const { formerSecret } = toKeyItem(before, now)
    if (!formerSecret?.isValid)
      throw new HttpError(409, 'The key has no former secret that is still valid.')
    await endFormerSecret(tx, before.keyId, now.toISOString())
    const after = await requireKey(tx, call, now)
    const { name: keyName, projectId } = after
    const { last4: formerLast4, endsAtUtc: formerEndsAtUtc } = formerSecret
    const detail = { name: keyName, projectId, formerLast4, formerEndsAtUtc }
    return { response: toKeyItem(after, now), target: before.keyId, detail }
  },
})
