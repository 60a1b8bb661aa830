import { allPermissions } from '../../http/permissions.ts'
import { defaultKeyLifetimeDays } from '../../lib/limits/key-limits.ts'
import { createKey, listKeys, revokeKey, type KeySummary } from '../../store/tenancy/keys.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseArguments, parseOptions, requireArgument, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { requireProject, withStore } from '../with-store.ts'
import { parseExpiryOption } from './expiry-option.ts'

const permissionNames = allPermissions.map(({ permission }) => permission)

/** The permissions that are not actions. */
const otherPermissions = permissionNames.filter((permission) => !permission.startsWith('svc.'))

export const apiKey: CliCommand = {
  name: 'key',
  summary: 'create, list and revoke API keys',
  usage: `facegate key create --project <project> [--name n] [--permissions a,b]
                    [--expires <duration|ISO 8601|never>] [--json]
facegate key list [--project <project>] [--json]
facegate key revoke <keyId> [--json]

  create shows the key only once. Without --permissions, the key has all permissions
  (*). Permissions are the names of actions, ${otherPermissions.slice(0, -1).join(', ')}.
  --expires is a duration (12h, 90d, 4w, 1y), a date, or never. Without it, the key expires
  after ${defaultKeyLifetimeDays} days. A revoked key is rejected from the next call on.`,
  run: subcommands({ create, list, revoke }),
}

async function create(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { project: text, name: text, permissions: text, expires: text })
  const permissions = parsePermissions(values.permissions ?? '*')
  const expiresAtUtc = parseExpiryOption(values.expires, new Date())
  const name = values.name ?? 'key'
  if (name.length < 1 || name.length > 128)
    throw new UsageError('--name must have 1 to 128 characters')
  const created = await withStore(async (store) => {
    const { projectId } = await requireProject(store, values.project)
    const options = { projectId, name, permissions, expiresAtUtc }
    return { ...(await createKey(store.db, options, new Date())), ...options }
  })
  const expiry = expiryText(created.expiresAtUtc, values.expires)
  print(
    created,
    values.json,
    () => `${created.key}\n\nkey ${created.keyId}, shown only once; ${expiry}`,
  )
}

async function list(args: readonly string[]): Promise<void> {
  const { project, json } = parseOptions(args, { project: text })
  const keys = await withStore(async (store) => {
    const projectId =
      project === undefined ? undefined : (await requireProject(store, project)).projectId
    return listKeys(store.db, projectId, new Date())
  })
  print(keys, json, () => table(keys))
}

async function revoke(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {})
  const keyId = requireArgument(positionals, '<keyId>')
  const revokedAtUtc = await withStore(({ db }) => revokeKey(db, keyId, new Date()))
  if (revokedAtUtc === undefined) throw new Error(`there is no key ${keyId}`)
  print({ keyId, revokedAtUtc }, values.json, () => `key ${keyId} is revoked`)
}

function parsePermissions(list: string): string[] {
  const permissions = list.split(',').map((permission) => permission.trim())
  for (const permission of permissions)
    if (!permissionNames.includes(permission))
      throw new UsageError(
        `'${permission}' is not a permission; use one of ${permissionNames.join(', ')}`,
      )
  return [...new Set(permissions)]
}

function expiryText(expiresAtUtc: string | null, option: string | undefined): string {
  if (expiresAtUtc === null) return 'it never expires'
  const expires = `it expires at ${expiresAtUtc}`
  return option === undefined ? `${expires} (--expires sets another time, or never)` : expires
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
