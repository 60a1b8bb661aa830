import { selectRole } from '../postgres/open-postgres-store.ts'
import { prepare, type QueryRunner } from '../postgres/connection/kysely-driver.ts'
import { userNameKey } from '../console/users.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'

const selectMigrations = prepare<{ readonly names: string }>(
  `select string_agg(name, ' ' order by name) as names from kysely_migration`,
)

/**
 * @throws Error if the databases have different schemas, or if row-level security does not apply to one
 *   of the roles.
 */
export async function requireMovable(source: MigrationTarget, target: MigrationTarget) {
  const [from, to] = await Promise.all([source, target].map(({ read }) => read(describe)))
  const bypassing = [from?.bypasses && source, to?.bypasses && target].find(Boolean)
  if (bypassing)
    throw new Error(
      `row-level security does not apply to the role of ${bypassing.label}; use the role of the service`,
    )
  if (from?.names !== to?.names)
    throw new Error(
      'the two databases have different schemas; update the servers of both to the same version',
    )
}

async function describe(on: QueryRunner) {
  const role = await selectRole.first(on, {})
  const migrated = await selectMigrations.first(on, {})
  return { bypasses: role?.bypasses ?? true, names: migrated?.names }
}

const selectAccount = prepare<{ readonly accountId: string }>(
  'select "accountId" from accounts where "accountId" = :accountId',
)
/** @throws Error if the target contains the account. */
export async function requireAbsent(target: MigrationTarget, accountId: string): Promise<void> {
  if (await target.read((on) => selectAccount.first(on, { accountId })))
    throw new Error(
      `${target.label} already contains the account ${accountId}, but not from this move`,
    )
}

const selectUsers = prepare<{ readonly userId: string; readonly name: string }>(
  'select "userId", name from users where "accountId" = :accountId order by name',
)
const selectTakenNames = prepare<{ readonly nameKey: string }>('select "nameKey" from users')

/** User → the new name, for users whose name is taken in the target: names are unique there. */
export async function findNewNames(
  source: QueryRunner,
  target: MigrationTarget,
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const users = await selectUsers.all(source, { accountId })
  const existing = await target.read((on) => selectTakenNames.all(on, {}))
  const taken = new Set(existing.map(({ nameKey }) => nameKey))
  const names = new Set(users.map(({ name }) => userNameKey(name)))
  const newNames = new Map<string, string>()
  for (const { userId, name } of users) {
    if (!taken.has(userNameKey(name))) continue
    let number = 2
    while ([taken, names].some((keys) => keys.has(userNameKey(`${name}-${number}`)))) number++
    newNames.set(userId, `${name}-${number}`)
    names.add(userNameKey(`${name}-${number}`))
  }
  return newNames
}
