import { z } from 'zod'
import { allPermissions } from '../../../http/permissions.ts'
import { hourMs } from '../../../lib/clock.ts'
import { HttpError } from '../../../lib/errors.ts'
import { defaultKeyExpiry, defaultKeyLifetimeDays } from '../../../lib/limits/key-limits.ts'
import type { ReadTx } from '../../../store/database.ts'
import {
  type KeyChange,
  endFormerSecret,
  rotateKey,
  updateKey,
} from '../../../store/tenancy/key-changes.ts'
import { countKeys, findKey, findKeys } from '../../../store/tenancy/key-list.ts'
import { type KeySummary, createKey, revokeKey } from '../../../store/tenancy/keys.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
import { defineList } from '../../server/define-list.ts'
import {
  type AccountPath,
  id,
  invalidField,
  name,
  requireProject,
  utcTime,
} from '../../server/input.ts'
import texts from '../../field-texts.json' with { type: 'json' }

/** A key as the console shows it: without its secret. */
export const key = z.object({
  keyId: z.string(),
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  projectId: z.string(),
  projectName: z.string(),
  permissions: z.array(z.string()),
  state: z.enum(['active', 'revoked', 'expired']),
  createdAtUtc: z.string(),
  expiresAtUtc: z.string().nullable(),
  revokedAtUtc: z.string().nullable(),
  lastUsedAtUtc: z.string().nullable().describe(texts.keys.lastUsedAtUtc),
  rotatedAtUtc: z.string().nullable(),
  formerSecret: z
    .object({
      last4: z.string(),
      endsAtUtc: z.string(),
      lastUsedAtUtc: z.string().nullable(),
      isValid: z.boolean(),
    })
    .nullable()
    .describe(texts.keys.formerSecret),
})

/** A key with its secret. */
export const keyWithSecret = key.extend({
  key: z.string().describe(texts.keys.key),
})

/** Converts a key to its response. */
export function toKeyItem(row: KeySummary, now: Date): z.input<typeof key> {
  const { formerLast4: last4, formerEndsAtUtc: endsAtUtc, formerLastUsedAtUtc } = row
  const permissions = [...row.permissions]
  if (last4 === null || endsAtUtc === null) return { ...row, permissions, formerSecret: null }
  const isValid = row.state === 'active' && now.toISOString() < endsAtUtc
  const formerSecret = { last4, endsAtUtc, lastUsedAtUtc: formerLastUsedAtUtc, isValid }
  return { ...row, permissions, formerSecret }
}

const keySortColumns = {
  created: 'createdAtUtc',
  name: 'name',
  expires: 'expiresAtUtc',
  used: 'lastUsedAtUtc',
} as const

export const { pages: listKeys } = defineList({
  path: '/keys',
  filter: z.strictObject({
    projectId: id.optional(),
    state: z.enum(['active', 'revoked', 'expired']).optional(),
  }),
  item: key,
  sortBy: ['created', 'name', 'expires', 'used'],
  isDescending: true,
  position: z.tuple([z.string().nullable(), z.string()]),
  find: async ({ query, identity, services: { store, clock } }, { after, limit, sort }) => {
    const by = keySortColumns[sort.by]
    const position = after && { ...(after[0] !== null && { [by]: after[0] }), keyId: after[1] }
    const order = { sort: { by, isDescending: sort.isDescending }, after: position, limit }
    const now = new Date(clock())
    const filter = { ...query, accountId: identity.accountId, now, ...order }
    const keys = await store.read((tx) => findKeys(tx, filter))
    return keys.map((item) => ({
      item: toKeyItem(item, now),
      position: [item[by], item.keyId] as const,
    }))
  },
  count: ({ query, identity, services: { store, clock } }) => {
    const filter = { ...query, accountId: identity.accountId, now: new Date(clock()) }
    return store.read((tx) => countKeys(tx, filter))
  },
})

export const listPermissions = defineRead('/permissions', {
  response: z.array(z.object({ permission: z.string(), summary: z.string() })),
  handle: async () => allPermissions,
})

export const permission = z.enum(allPermissions.map(({ permission }) => permission))

const expiry = utcTime.nullable().optional()

export const addKey = defineWrite('/keys', {
  auditAction: 'key.create',
  body: z.strictObject({
    projectId: id,
    name,
    permissions: z.array(permission).min(1),
    expiresAtUtc: expiry.meta({
      description: `null: the key never expires. If absent: after ${defaultKeyLifetimeDays} days.`,
    }),
  }),
  response: keyWithSecret,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const now = new Date(services.clock())
    const pathParameters = { projectId: body.projectId }
    const { projectId } = await requireProject(tx, { pathParameters, identity })
    requireFutureExpiry(body.expiresAtUtc, now)
    const expiresAtUtc =
      body.expiresAtUtc === undefined
        ? defaultKeyExpiry(now)
        : (body.expiresAtUtc?.toISOString() ?? null)
    const permissions = [...new Set(body.permissions)]
    const settings = { projectId, name: body.name, permissions, expiresAtUtc }
    const created = await createKey(db, settings, now)
    const row = await requireKey(tx, { pathParameters: { keyId: created.keyId }, identity }, now)
    const response = { ...toKeyItem(row, now), key: created.key }
    return { response, target: created.keyId, detail: settings }
  },
})

export const revokeKeyById = defineWrite('/keys/:keyId/revoke', {
  auditAction: 'key.revoke',
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: key,
  handle: async (call, { db, tx }) => {
    const now = new Date(call.services.clock())
    const before = await requireKey(tx, call, now)
    if (![before.name, before.last4].includes(call.body.confirm))
      throw invalidField('body.confirm', 'must repeat the key name or its last 4 characters')
    await revokeKey(db, before.keyId, now)
    const after = await requireKey(tx, call, now)
    const { name: keyName, last4, projectId } = after
    const detail = { name: keyName, last4, projectId }
    return { response: toKeyItem(after, now), target: before.keyId, detail }
  },
})

/** @throws HttpError 404 unless the account has the key of the path. */
export async function requireKey(tx: ReadTx, { pathParameters, identity }: AccountPath, now: Date) {
  const { accountId } = identity
  const found = await findKey(tx, { accountId, keyId: pathParameters['keyId'] ?? '', now })
  if (!found) throw new HttpError(404, 'The account has no key with this id.')
  return found
}

/** @throws ValidationError if the time is not in the future. */
export function requireFutureExpiry(expiresAtUtc: Date | null | undefined, now: Date): void {
  if (expiresAtUtc && expiresAtUtc <= now)
    throw invalidField('body.expiresAtUtc', 'must be in the future')
}

/** Changes of an existing key. The gate reads keys at each call, so they apply to the next call. */

/** Changes the name, the permissions or the expiry of a key. An expired key can be extended. */
export const editKey = defineWrite('/keys/:keyId', {
  method: 'PATCH',
  auditAction: 'key.edit',
  body: z.strictObject({
    name: name.optional(),
    permissions: z.array(permission).min(1).optional(),
    addPermissions: z.array(permission).default([]),
    removePermissions: z.array(permission).default([]),
    expiresAtUtc: expiry.describe(texts.keys.expiresAtUtc),
  }),
  response: key,
  handle: async (call, { tx }) => {
    const { body, services } = call
    const now = new Date(services.clock())
    await tx.lock(`key:${call.pathParameters['keyId']}`, 'exclusive')
    const before = await requireKey(tx, call, now)
    if (before.state === 'revoked')
      throw new HttpError(409, 'The key is revoked and cannot be changed. Create a new key.')
    requireFutureExpiry(body.expiresAtUtc, now)
    const permissions = new Set([
      ...(body.permissions ?? before.permissions),
      ...body.addPermissions,
    ])
    for (const removed of body.removePermissions) permissions.delete(removed)
    if (permissions.size === 0)
      throw new HttpError(409, 'A key needs at least one permission. Add one, or revoke the key.')
    const change = changedFields(before, {
      ...(body.name !== undefined && { name: body.name }),
      permissions: [...permissions],
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
function changedFields(before: KeySummary, change: KeyChange): KeyChange {
  const { permissions = before.permissions, ...fields } = change
  const isSame = new Set(permissions).symmetricDifference(new Set(before.permissions)).size === 0
  const changed = Object.entries(fields).filter(
    ([field, value]) => value !== before[field as keyof typeof fields],
  )
  return { ...Object.fromEntries(changed), ...(!isSame && { permissions }) }
}

function pickFields(row: KeySummary, change: KeyChange): KeyChange {
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
export const rotateKeyById = defineWrite('/keys/:keyId/rotate', {
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
export const endOverlap = defineWrite('/keys/:keyId/end-overlap', {
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
