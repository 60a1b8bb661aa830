import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { addAuditEntry } from '../../src/store/console/audit-log.ts'
import type { Store } from '../../src/store/database.ts'
import { cliOutput } from '../support/cli/run-cli.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { holdLock, queryAllAccounts, waitUntil } from '../support/migration/run-migration.ts'
import { countRows, createInstallations } from '../support/nodes/two-installations.ts'

const skip = postgresSkipReason ?? false
/** More than two batches of the removal. */
const entries = 1201
const middle = 600

async function addEntries({ write }: Store, accountId: string): Promise<void> {
  const change = { userId: null, userName: 'Olga', auditAction: 'key.create', target: '' } as const
  await write(async (tx) => {
    for (let atMs = 1; atMs <= entries; atMs++)
      await addAuditEntry(tx, { ...change, accountId, atMs, detail: '{}', ip: '' })
  })
}

test('Other accounts write while the copy of a moved account is removed', { skip }, async () => {
  await using opened = new AsyncDisposableStack()
  const { a, b } = await createInstallations(opened)
  const moved = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
  const { accountId } = moved.project
  await moved.value('svc.enroll', imageParams('Ada'))
  await runAsAllAccounts(() => addEntries(a.gallery.database.store, accountId))
  await cliOutput(['account', 'move', accountId, '--to', b.url], a.settings)
  const countOf = async (query: string) =>
    Number((await queryAllAccounts(a.url, `select count(*) as count ${query}`))[0]?.['count'])
  const countEntries = () => countOf(`from "auditLog" where "accountId" = '${accountId}'`)
  const waitsFor = (table: string) => async () =>
    (await countOf(`from pg_locks where not granted and relation = '"${table}"'::regclass`)) > 0

  // A backup holds this lock of all tables, which the removal of a trigger excludes.
  const backup = await holdLock(a.url, 'lock table attempts in access share mode')
  const removal = cliOutput(['account', 'remove', accountId], a.settings)
  await waitUntil(waitsFor('attempts'))
  await a.gallery.value('svc.detect', imageParams('Ada'))
  const beforeBatches = await holdLock(a.url, 'lock table "appliedRemovals" in share mode')
  await backup[Symbol.asyncDispose]()
  await waitUntil(waitsFor('appliedRemovals'))
  const entry = `select from "auditLog" where "accountId" = '${accountId}' and "atMs" = ${middle}`
  const inBatches = await holdLock(a.url, `${entry} for update`)
  await beforeBatches[Symbol.asyncDispose]()
  await waitUntil(async () => (await countEntries()) < entries)
  await a.gallery.value('svc.detect', imageParams('Ada'))
  await inBatches[Symbol.asyncDispose]()
  await removal
  assert.equal(await countRows(a, accountId), 0)
})
