import { parseArgs } from 'node:util'
import { allPermissions } from '../../http/permissions.ts'
import { createKey, listKeys, revokeKey, type KeySummary } from '../../store/tenancy/keys.ts'
import { formatTable, print, requireProject, subcommands, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { parseTimeOption } from '../time-option.ts'

const json = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

const permissionNames = allPermissions.map(({ permission }) => permission)

/** Permissions that are no action's. */
const otherPermissions = permissionNames.filter((permission) => !permission.startsWith('svc.'))

export const apiKey: CliCommand = {
  name: 'key',
  summary: 'mint, list and revoke API keys',
  usage: `facegate key mint --project <project> [--name n] [--permissions a,b] [--expires <ISO 8601>] [--json]
facegate key list [--project <project>] [--json]
facegate key revoke <keyId> [--json]

  A key is shown once, when it is minted. Without --permissions it may do everything
  (*). Permissions are the names of actions, ${otherPermissions.slice(0, -1).join(', ')}.
  A revocation holds from the next call on.`,
  run: subcommands({ mint: create, list, revoke }),
}

async function create(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { project: text, name: text, permissions: text, expires: text, json },
  })
  const permissions = parsePermissions(values.permissions ?? '*')
  const expiresAtUtc = parseExpiry(values.expires)
  const name = values.name ?? 'key'
  if (name.length < 1 || name.length > 128) throw new UsageError('--name is 1 to 128 characters')
  const minted = await withStore(async (store) => {
    const { projectId } = await requireProject(store, values.project)
    const wanted = { projectId, name, permissions, expiresAtUtc }
    return { ...(await createKey(store.db, wanted, new Date())), ...wanted }
  })
  print(minted, values.json, () => `${minted.key}\n\nkey ${minted.keyId}, shown this once`)
}

async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { project: text, json } })
  const keys = await withStore(async (store) => {
    const wanted = values.project
    const projectId =
      wanted === undefined ? undefined : (await requireProject(store, wanted)).projectId
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

function parsePermissions(list: string): string[] {
  const wanted = list.split(',').map((permission) => permission.trim())
  for (const permission of wanted)
    if (!permissionNames.includes(permission))
      throw new UsageError(
        `${permission || 'nothing'} is no permission; there are ${permissionNames.join(', ')}`,
      )
  return [...new Set(wanted)]
}

function parseExpiry(value: string | undefined): string | null {
  if (value === undefined) return null
  const expires = parseTimeOption('--expires', value)
  if (expires.getTime() <= Date.now()) throw new UsageError(`--expires ${value} is past`)
  return expires.toISOString()
}

function table(keys: readonly KeySummary[]): string {
  return formatTable(
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
