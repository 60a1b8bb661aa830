import { dayMs, hourMs } from '../../lib/clock.ts'
import { defaultKeyExpiry } from '../../lib/limits/key-limits.ts'
import * as tenancy from '../../store/tenancy/keys.ts'
import { changeDatabase } from '../audit/audited-change.ts'
import { rotateKey } from '../../store/tenancy/key-changes.ts'
import { type CommandValues, print, printRows } from '../command.ts'
import { listKeyRoutes } from '../../store/tenancy/key-list.ts'
import { findProjectId, requireAccountId, requireProject, withStore } from '../with-store.ts'
import type { KeyExpiry } from './expiry-option.ts'

export async function create({
  name,
  permissions = ['*'],
  ...values
}: CommandValues<'project' | 'name'> & {
  readonly permissions: readonly string[] | undefined
  readonly expires: KeyExpiry | undefined
}): Promise<void> {
  const expiresAtUtc = values.expires ? values.expires.atUtc : defaultKeyExpiry(new Date())
  const created = await changeDatabase('key.create', async ({ db, nowMs }) => {
    const { projectId, accountId } = await requireProject({ db }, values.project)
    const options = { projectId, name, permissions, expiresAtUtc }
    const key = await tenancy.createKey(db, options, new Date(nowMs))
    return { result: { ...key, ...options }, accountId, target: key.keyId, detail: options }
  })
  const expiry = expiryText(created.expiresAtUtc, values.expires)
  const text = `${created.key}\n\nkey ${created.keyId}, shown only once; ${expiry}`
  print(created, values.json, () => text)
}

export async function list({ project, json }: CommandValues<never, 'project'>): Promise<void> {
  const keys = await withStore(async (store) =>
    tenancy.listKeys(store.db, await findProjectId(store, project), new Date()),
  )
  printRows(keys, json, {
    id: 'keyId',
    name: 'name',
    key: ({ prefix, last4 }) => `${prefix}…${last4}`,
    state: stateText,
    permissions: 'permissions',
    expires: ({ expiresAtUtc }) => expiresAtUtc ?? 'never',
    'last used': ({ lastUsedAtUtc }) => lastUsedAtUtc ?? 'never',
    project: 'projectName',
    'project id': 'projectId',
  })
}

export async function revoke({ keyId, json }: CommandValues<'keyId'>): Promise<void> {
  const revokedAtUtc = await changeDatabase('key.revoke', async ({ db, nowMs }) => {
    const result = await tenancy.revokeKey(db, keyId, new Date(nowMs))
    const key = await tenancy.findKeyOwner(db, keyId)
    if (result === undefined || !key) throw new Error(`there is no key ${keyId}`)
    const { accountId, name, projectId } = key
    return { result, accountId, target: keyId, detail: { name, projectId } }
  })
  print({ keyId, revokedAtUtc }, json, () => `key ${keyId} is revoked`)
}

const overlapsMs = { '0': 0, '1h': hourMs, '24h': dayMs, '7d': 7 * dayMs } as const

export async function rotate({
  keyId,
  overlap,
  json,
}: CommandValues<'keyId'> & { readonly overlap: keyof typeof overlapsMs }): Promise<void> {
  const rotation = { keyId, overlapMs: overlapsMs[overlap] }
  const { key, formerEndsAtUtc } = await changeDatabase('key.rotate', async ({ db, nowMs }) => {
    const result = await rotateKey(db, rotation, new Date(nowMs))
    const owner = await tenancy.findKeyOwner(db, keyId)
    if (result.state === 'unknown' || !owner) throw new Error(`there is no key ${keyId}`)
    if (result.state !== 'active')
      throw new Error(`key ${keyId} is ${result.state}; create a new key with facegate key create`)
    const { accountId, name, projectId } = owner
    const detail = { name, projectId, formerEndsAtUtc: result.formerEndsAtUtc }
    return { result, accountId, target: keyId, detail }
  })
  const former = overlap === '0' ? 'is no longer valid' : `is valid until ${formerEndsAtUtc}`
  const text = `${key}\n\nkey ${keyId}, shown only once; the former secret ${former}`
  print({ keyId, key, formerEndsAtUtc }, json, () => text)
}

function expiryText(expiresAtUtc: string | null, option: KeyExpiry | undefined): string {
  if (expiresAtUtc === null) return 'it never expires'
  const expires = `it expires at ${expiresAtUtc}`
  return option === undefined ? `${expires} (--expires sets another time, or never)` : expires
}

/** The state of a key, and the end of its former secret while that is valid. */
function stateText({ state, formerLast4, formerEndsAtUtc }: tenancy.KeySummary): string {
  const isValid = formerEndsAtUtc !== null && new Date().toISOString() < formerEndsAtUtc
  if (state !== 'active' || !isValid) return state
  return `${state}; …${formerLast4} until ${formerEndsAtUtc}`
}

/** Prints which installation the keys of this database belong to, as a map for a proxy. */
export async function routes({ account, to, json }: CommandValues<'to', 'account'>): Promise<void> {
  const rows = await withStore(async (store) => {
    const accountId = account === undefined ? undefined : await requireAccountId(store, account)
    return listKeyRoutes(store.db, accountId)
  })
  const printed = rows.map(({ hash, ...row }) => ({
    ...row,
    sha256: Buffer.from(hash).toString('hex'),
    to,
  }))
  print(printed, json, () => printed.map(({ sha256 }) => `${sha256} ${to}`).join('\n'))
}
