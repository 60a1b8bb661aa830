import { z } from 'zod'
import { allPermissions } from '../../../http/permissions.ts'
import { HttpError } from '../../../lib/errors.ts'
import { defaultKeyExpiry, defaultKeyLifetimeDays } from '../../../lib/limits/key-limits.ts'
import {
  countKeys,
  findKey,
  findKeys,
  type KeyWithProject,
} from '../../../store/tenancy/key-list.ts'
import { createKey, revokeKey } from '../../../store/tenancy/keys.ts'
import { id, invalidField, name, utcTime } from '../../server/input.ts'
import { defineList } from '../../server/define-list.ts'
import type { ReadTx } from '../../../store/database.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { requireProject } from '../../server/require-project.ts'

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
  lastUsedAtUtc: z.string().nullable().meta({ description: 'It is stored at most once a minute.' }),
  rotatedAtUtc: z.string().nullable(),
  formerSecret: z
    .object({
      last4: z.string(),
      endsAtUtc: z.string(),
      lastUsedAtUtc: z.string().nullable(),
      isValid: z.boolean(),
    })
    .nullable()
    .meta({ description: 'The secret before the last rotation; null: the key was not rotated.' }),
})

/** A key with its secret. */
export const keyWithSecret = key.extend({
  key: z.string().meta({ description: 'The full key. It is shown only in this response.' }),
})

/** Converts a key to its response. */
export function toKeyItem(row: KeyWithProject, now: Date): z.input<typeof key> {
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

export const listPermissions = defineRead({
  path: '/permissions',
  response: z.array(z.object({ permission: z.string(), summary: z.string() })),
  handle: async () => allPermissions,
})

export const permission = z.enum(allPermissions.map(({ permission }) => permission))

export const addKey = defineWrite({
  path: '/keys',
  auditAction: 'key.create',
  body: z.strictObject({
    projectId: id,
    name,
    permissions: z.array(permission).min(1),
    expiresAtUtc: utcTime
      .nullable()
      .optional()
      .meta({
        description: `null: the key never expires. If absent: after ${defaultKeyLifetimeDays} days.`,
      }),
  }),
  response: keyWithSecret,
  handle: async ({ body, identity, services }, { db, tx }) => {
    const now = new Date(services.clock())
    const { projectId } = await requireProject(tx, {
      pathParameters: { projectId: body.projectId },
      identity,
    })
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

export const revokeKeyById = defineWrite({
  path: '/keys/:keyId/revoke',
  auditAction: 'key.revoke',
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: key,
  handle: async ({ body, pathParameters, identity, services }, { db, tx }) => {
    const now = new Date(services.clock())
    const before = await requireKey(tx, { pathParameters, identity }, now)
    if (![before.name, before.last4].includes(body.confirm))
      throw invalidField('body.confirm', 'must repeat the key name or its last 4 characters')
    await revokeKey(db, before.keyId, now)
    const after = await requireKey(tx, { pathParameters, identity }, now)
    const { name: keyName, last4, projectId } = after
    const detail = { name: keyName, last4, projectId }
    return { response: toKeyItem(after, now), target: before.keyId, detail }
  },
})

type KeyPath = Pick<ConsoleContext, 'pathParameters' | 'identity'>

/** @throws HttpError 404 unless the account has the key of the path. */
export async function requireKey(
  tx: ReadTx,
  { pathParameters, identity }: KeyPath,
  now: Date,
): Promise<KeyWithProject> {
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
