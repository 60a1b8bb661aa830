import { z } from 'zod'
import { allPermissions } from '../../http/permissions.ts'
import { HttpError } from '../../lib/errors.ts'
import { findKey, findKeys } from '../../store/tenancy/key-list.ts'
import { createKey, revokeKey } from '../../store/tenancy/keys.ts'
import { id, utcTime, name } from '../server/schemas.ts'
import { ValidationError } from '../server/validation-error.ts'
import { defineList, declareList } from '../server/list.ts'
import { defineRead, defineWrite, noQuery } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const key = z.object({
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
  lastUsedAtUtc: z.string().nullable(),
})

const keyList = declareList({
  path: '/keys',
  minimumRole: 'viewer',
  filter: z.strictObject({
    projectId: id.optional(),
    state: z.enum(['active', 'revoked', 'expired']).optional(),
  }),
  item: key,
  position: z.tuple([z.string(), z.string()]),
  find: async ({ query, identity: visitor, services: { store, clock } }, { after, limit }) => {
    const place = after && { createdAtUtc: after[0], keyId: after[1] }
    const now = new Date(clock())
    const filter = { ...query, accountId: visitor.accountId, now, after: place, limit }
    const found = await store.read((reading) => findKeys(reading, filter))
    return found.map((item) => ({
      item: { ...item, permissions: [...item.permissions] },
      position: [item.createdAtUtc, item.keyId] as const,
    }))
  },
})

export const listKeys = defineList(keyList)

export const listPermissions = defineRead({
  path: '/permissions',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.array(z.object({ permission: z.string(), summary: z.string() })),
  handle: async () => [...allPermissions],
})

const permission = z.enum(allPermissions.map((known) => known.permission))

export const addKey = defineWrite({
  method: 'POST',
  path: '/keys',
  minimumRole: 'admin',
  auditAction: 'key.mint',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    name,
    permissions: z.array(permission).min(1),
    expiresAtUtc: utcTime.nullable().optional(),
  }),
  response: key.extend({ key: z.string().meta({ description: 'The only time it is shown.' }) }),
  handle: async ({ body, identity: visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const now = new Date(services.clock())
    const { projectId } = await requireProject(tx, {
      pathParameters: { projectId: body.projectId },
      identity: visitor,
    })
    if (body.expiresAtUtc && body.expiresAtUtc <= now)
      throw new ValidationError([{ path: 'body.expiresAtUtc', message: 'must be in the future' }])
    const expiresAtUtc = body.expiresAtUtc?.toISOString() ?? null
    const permissions = [...new Set(body.permissions)]
    const wanted = { projectId, name: body.name, permissions, expiresAtUtc }
    const minted = await createKey(db, wanted, now)
    const made = await findKey(tx, { accountId, keyId: minted.keyId, now })
    if (!made) throw new Error('a key was made and is not there')
    const answer = { ...made, permissions, key: minted.key }
    return { response: answer, target: minted.keyId, detail: wanted }
  },
})

export const revokeKeyById = defineWrite({
  method: 'POST',
  path: '/keys/:keyId/revoke',
  minimumRole: 'admin',
  auditAction: 'key.revoke',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(128) }),
  response: key,
  handle: async ({ body, pathParameters: parts, identity: visitor, services }, { db, tx }) => {
    const now = new Date(services.clock())
    const wanted = { accountId: visitor.accountId, keyId: parts['keyId'] ?? '', now }
    const before = await findKey(tx, wanted)
    if (!before) throw new HttpError(404, 'There is no such key.')
    if (![before.name, before.last4].includes(body.confirm))
      throw new ValidationError([{ path: 'body.confirm', message: 'repeat the name of the key' }])
    await revokeKey(db, before.keyId, now)
    const after = (await findKey(tx, wanted)) ?? before
    const { name, last4, projectId } = after
    const answer = { ...after, permissions: [...after.permissions] }
    return { response: answer, target: before.keyId, detail: { name, last4, projectId } }
  },
})
