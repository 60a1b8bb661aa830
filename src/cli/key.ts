import { parseArgs } from 'node:util'
import { allPermissions } from '../http/permissions.ts'
import { createKey, listKeys, revokeKey, type KeyListing } from '../store/keys.ts'
import { columns, print, theProject, verbs, withStore } from './admin.ts'
import { UsageError, type Command } from './command.ts'
import { parseMoment } from './moment.ts'

const json = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

const known = allPermissions.map(({ permission }) => permission)

/** Permissions that are no action's. */
const otherPermissions = known.filter((permission) => !permission.startsWith('svc.'))

export const key: Command = {
  name: 'key',
  summary: 'mint, list and revoke API keys',
  usage: `facegate key mint --project <project> [--name n] [--permissions a,b] [--expires <ISO 8601>] [--json]
facegate key list [--project <project>] [--json]
facegate key revoke <keyId> [--json]

  A key is shown once, when it is minted. Without --permissions it may do everything
  (*). Permissions are the names of actions, ${otherPermissions.slice(0, -1).join(', ')}.
  A revocation holds from the next call on.`,
  run: verbs({ mint, list, revoke }),
}

async function mint(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { project: text, name: text, permissions: text, expires: text, json },
  })
  const permissions = permissionsOf(values.permissions ?? '*')
  const expiresAtUtc = expiryOf(values.expires)
  const name = values.name ?? 'key'
  if (name.length < 1 || name.length > 128) throw new UsageError('--name is 1 to 128 characters')
  const minted = await withStore(async (store) => {
    const { projectId } = await theProject(store, values.project)
    const wanted = { projectId, name, permissions, expiresAtUtc }
    return { ...(await createKey(store.db, wanted, new Date())), ...wanted }
  })
  print(minted, values.json, () => `${minted.key}\n\nkey ${minted.keyId}, shown this once`)
}

async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { project: text, json } })
  const keys = await withStore(async (store) => {
    const wanted = values.project
    const projectId = wanted === undefined ? undefined : (await theProject(store, wanted)).projectId
    return listKeys(store.db, projectId, new Date())
  })
  print(keys, values.json, () => table(keys))
}

async function revoke(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json },
  })
  const [keyId, ...rest] = positionals
  if (keyId === undefined || rest.length > 0) throw new UsageError('name one key by its id')
  const revokedAtUtc = await withStore(({ db }) => revokeKey(db, keyId, new Date()))
  if (revokedAtUtc === undefined) throw new Error(`there is no key ${keyId}`)
  print({ keyId, revokedAtUtc }, values.json, () => `key ${keyId} is revoked`)
}

function permissionsOf(list: string): string[] {
  const wanted = list.split(',').map((permission) => permission.trim())
  for (const permission of wanted)
    if (!known.includes(permission))
      throw new UsageError(
        `${permission || 'nothing'} is no permission; there are ${known.join(', ')}`,
      )
  return [...new Set(wanted)]
}

function expiryOf(value: string | undefined): string | null {
  if (value === undefined) return null
  const expires = parseMoment('--expires', value)
  if (expires.getTime() <= Date.now()) throw new UsageError(`--expires ${value} is past`)
  return expires.toISOString()
}

function table(keys: readonly KeyListing[]): string {
  return columns(
    ['key', 'name', 'shown as', 'state', 'permissions', 'expires', 'last used'],
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
