import { createKey, listKeys, revokeKey, type KeySummary } from '../../store/tenancy/keys.ts'
import { UsageError } from '../command.ts'
import { formatTable, print } from '../output.ts'
import { requireProject, withStore } from '../with-store.ts'

export async function create({
  name,
  permissions = ['*'],
  ...values
}: {
  readonly project: string
  readonly name: string
  readonly permissions: readonly string[] | undefined
  readonly expires: Date | undefined
  readonly json: boolean
}): Promise<void> {
  const expiresAtUtc = toExpiry(values.expires)
  const created = await withStore(async (store) => {
    const { projectId } = await requireProject(store, values.project)
    const options = { projectId, name, permissions, expiresAtUtc }
    return { ...(await createKey(store.db, options, new Date())), ...options }
  })
  print(created, values.json, () => `${created.key}\n\nkey ${created.keyId}, shown only once`)
}

export async function list({
  project,
  json,
}: {
  readonly project: string | undefined
  readonly json: boolean
}): Promise<void> {
  const keys = await withStore(async (store) => {
    const projectId =
      project === undefined ? undefined : (await requireProject(store, project)).projectId
    return listKeys(store.db, projectId, new Date())
  })
  print(keys, json, () => table(keys))
}

export async function revoke({
  keyId,
  json,
}: {
  readonly keyId: string
  readonly json: boolean
}): Promise<void> {
  const revokedAtUtc = await withStore(({ db }) => revokeKey(db, keyId, new Date()))
  if (revokedAtUtc === undefined) throw new Error(`there is no key ${keyId}`)
  print({ keyId, revokedAtUtc }, json, () => `key ${keyId} is revoked`)
}

/** @throws UsageError for a time in the past. */
function toExpiry(expires: Date | undefined): string | null {
  if (expires === undefined) return null
  if (expires.getTime() <= Date.now())
    throw new UsageError(`--expires ${expires.toISOString()} is in the past`)
  return expires.toISOString()
}

function table(keys: readonly KeySummary[]): string {
  return formatTable(
    ['id', 'name', 'key', 'state', 'permissions', 'expires', 'last used'],
    keys.map((row) => [
      row.keyId,
      row.name,
      `${row.prefix}…${row.last4}`,
      row.state,
      row.permissions.join(','),
      row.expiresAtUtc ?? 'never',
      row.lastUsedAtUtc ?? 'never',
    ]),
  )
}
