import { z } from 'zod'
import { allPermissions } from '../http/permissions.ts'
import { HttpError } from '../lib/errors.ts'
import { findKey, findKeys } from '../store/key-pages.ts'
import { createKey, revokeKey } from '../store/keys.ts'
import { id, moment, name } from './fields.ts'
import { Invalid } from './invalid.ts'
import { defineList, describeList } from './list.ts'
import { defineRead, defineWrite, noQuery } from './route.ts'
import { theProject } from './the-project.ts'

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

const keys = describeList({
  path: '/keys',
  who: 'viewer',
  filter: z.strictObject({
    projectId: id.optional(),
    state: z.enum(['active', 'revoked', 'expired']).optional(),
  }),
  item: key,
  place: z.tuple([z.string(), z.string()]),
  find: async ({ query, visitor, services: { store, clock } }, { after, limit }) => {
    const place = after && { createdAtUtc: after[0], keyId: after[1] }
    const now = new Date(clock())
    const filter = { ...query, accountId: visitor.accountId, now, after: place, limit }
    const found = await store.read((reading) => findKeys(reading, filter))
    return found.map((item) => ({
      item: { ...item, permissions: [...item.permissions] },
      place: [item.createdAtUtc, item.keyId] as const,
    }))
  },
})

export const listKeys = defineList(keys)

export const listPermissions = defineRead({
  path: '/permissions',
  who: 'viewer',
  query: noQuery,
  answer: z.array(z.object({ permission: z.string(), summary: z.string() })),
  handle: async () => [...allPermissions],
})

const permission = z.enum(allPermissions.map((known) => known.permission))

export const mintKey = defineWrite({
  method: 'POST',
  path: '/keys',
  who: 'admin',
  act: 'key.mint',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    name,
    permissions: z.array(permission).min(1),
    expiresAtUtc: moment.nullable().optional(),
  }),
  answer: key.extend({ key: z.string().meta({ description: 'The only time it is shown.' }) }),
  handle: async ({ body, visitor, services }, { db, tx }) => {
    const { accountId } = visitor
    const now = new Date(services.clock())
    const { projectId } = await theProject(tx, { parts: { projectId: body.projectId }, visitor })
    if (body.expiresAtUtc && body.expiresAtUtc <= now)
      throw new Invalid([{ path: 'body.expiresAtUtc', message: 'must be in the future' }])
    const expiresAtUtc = body.expiresAtUtc?.toISOString() ?? null
    const permissions = [...new Set(body.permissions)]
    const wanted = { projectId, name: body.name, permissions, expiresAtUtc }
    const minted = await createKey(db, wanted, now)
    const made = await findKey(tx, { accountId, keyId: minted.keyId, now })
    if (!made) throw new Error('a key was made and is not there')
    const answer = { ...made, permissions, key: minted.key }
    return { answer, target: minted.keyId, detail: wanted }
  },
})

export const revoke = defineWrite({
  method: 'POST',
  path: '/keys/:keyId/revoke',
  who: 'admin',
  act: 'key.revoke',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(128) }),
  answer: key,
  handle: async ({ body, parts, visitor, services }, { db, tx }) => {
    const now = new Date(services.clock())
    const wanted = { accountId: visitor.accountId, keyId: parts['keyId'] ?? '', now }
    const before = await findKey(tx, wanted)
    if (!before) throw new HttpError(404, 'There is no such key.')
    if (![before.name, before.last4].includes(body.confirm))
      throw new Invalid([{ path: 'body.confirm', message: 'repeat the name of the key' }])
    await revokeKey(db, before.keyId, now)
    const after = (await findKey(tx, wanted)) ?? before
    const { name, last4, projectId } = after
    const answer = { ...after, permissions: [...after.permissions] }
    return { answer, target: before.keyId, detail: { name, last4, projectId } }
  },
})
