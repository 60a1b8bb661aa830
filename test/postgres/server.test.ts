import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { openDatabaseProxy } from '../support/network/database-proxy.ts'
import {
  clusterSkipReason,
  sharedPostgresServer,
  runSql,
  startPostgresCluster,
} from '../support/database/postgres-server.ts'

const skip = clusterSkipReason ?? false

test('a killed server comes back with all that it acknowledged', { skip }, async () => {
  await using cluster = await startPostgresCluster()
  await using database = await cluster.createDatabase()
  await runSql(database.url, 'create table kept (what text)')
  const client = new Client({ connectionString: database.url })
  client.on('error', () => {})
  await client.connect()
  await client.query("insert into kept values ('acknowledged')")
  await client.query("begin; insert into kept values ('never acknowledged')")
  await cluster.killAll()
  await assert.rejects(runSql(database.url, 'select 1'), /ECONNREFUSED/u)
  await cluster.restart()
  const again = new Client({ connectionString: database.url })
  await again.connect()
  const { rows } = await again.query('select what from kept')
  assert.deepEqual(rows, [{ what: 'acknowledged' }])
  await again.end()
})

test(
  'the owner of a database is held by row-level security, and has vectors',
  { skip },
  async () => {
    const server = await sharedPostgresServer()
    await using database = await server.createDatabase()
    const client = new Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query(
      `select rolsuper or rolbypassrls as "isAbove", '[1,2]'::vector::text as vector
     from pg_roles where rolname = current_user`,
    )
    assert.deepEqual(rows, [{ isAbove: false, vector: '[1,2]' }])
    await client.end()
  },
)

for (const cut of ['before', 'after'] as const)
  test(
    `a line cut ${cut} a commit leaves it to the server whether it holds`,
    { skip },
    async () => {
      const server = await sharedPostgresServer()
      await using database = await server.createDatabase()
      await runSql(database.url, 'create table kept (what text)')
      await using line = await openDatabaseProxy(database.url, () => cut)
      for (const statements of [
        ["begin; insert into kept values ('a')", 'commit'],
        ["insert into kept values ('b')"],
      ]) {
        const client = new Client({ connectionString: line.url })
        client.on('error', () => {})
        await client.connect()
        const last = statements.pop() ?? ''
        for (const statement of statements) await client.query(statement)
        await assert.rejects(client.query({ text: last, name: 'last' }))
      }
      const client = new Client({ connectionString: database.url })
      await client.connect()
      const { rows } = await client.query('select what from kept order by what')
      assert.deepEqual(rows, cut === 'before' ? [] : [{ what: 'a' }, { what: 'b' }])
      await client.end()
      assert.equal(line.disconnectCounts()[cut], 2)
    },
  )
