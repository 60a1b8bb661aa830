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

test('A killed server keeps all acknowledged writes', { skip }, async () => {
  await using cluster = await startPostgresCluster()
  await using database = await cluster.createDatabase()
  await runSql(database.url, 'create table kept (name text)')
  const client = new Client({ connectionString: database.url })
  client.on('error', () => {})
  await client.connect()
  await client.query("insert into kept values ('acknowledged')")
  await client.query("begin; insert into kept values ('not acknowledged')")
  await cluster.killAll()
  await assert.rejects(runSql(database.url, 'select 1'), /ECONNREFUSED/u)
  await cluster.restart()
  const second = new Client({ connectionString: database.url })
  await second.connect()
  const { rows } = await second.query('select name from kept')
  assert.deepEqual(rows, [{ name: 'acknowledged' }])
  await second.end()
})

test(
  'A database’s owner is subject to row-level security and can use vectors',
  { skip },
  async () => {
    const server = await sharedPostgresServer()
    await using database = await server.createDatabase()
    const client = new Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query(
      `select rolsuper or rolbypassrls as bypasses, '[1,2]'::vector::text as vector
     from pg_roles where rolname = current_user`,
    )
    assert.deepEqual(rows, [{ bypasses: false, vector: '[1,2]' }])
    await client.end()
  },
)

for (const point of ['before', 'after'] as const)
  test(
    `A connection that is closed ${point} a commit ${point === 'before' ? 'prevents' : 'does not undo'} it`,
    { skip },
    async () => {
      const server = await sharedPostgresServer()
      await using database = await server.createDatabase()
      await runSql(database.url, 'create table kept (name text)')
      await using proxy = await openDatabaseProxy(database.url, () => point)
      for (const statements of [
        ["begin; insert into kept values ('a')", 'commit'],
        ["insert into kept values ('b')"],
      ]) {
        const client = new Client({ connectionString: proxy.url })
        client.on('error', () => {})
        await client.connect()
        const last = statements.pop() ?? ''
        for (const statement of statements) await client.query(statement)
        await assert.rejects(client.query({ text: last, name: 'last' }))
      }
      const client = new Client({ connectionString: database.url })
      await client.connect()
      const { rows } = await client.query('select name from kept order by name')
      assert.deepEqual(rows, point === 'before' ? [] : [{ name: 'a' }, { name: 'b' }])
      await client.end()
      assert.equal(proxy.disconnectCounts()[point], 2)
    },
  )
