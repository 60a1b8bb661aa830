import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { openSqlite, createDurableTransaction } from '../../src/store/sqlite/connection.ts'

/** Opens a database with one table, and a disk whose writes the test completes. */
async function openWithDisk(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-durable-'))
  const file = path.join(folder, 'facegate.db')
  const connection = openSqlite(file)
  connection.exec('create table rows (n integer)')
  const disk: PromiseWithResolvers<void>[] = []
  const transaction = createDurableTransaction(connection, file, (descriptor) => {
    assert.ok(descriptor > 0)
    const write = Promise.withResolvers<void>()
    disk.push(write)
    return write.promise
  })
  t.after(async () => {
    connection.close()
    transaction.close()
    await rm(folder, { recursive: true })
  })
  const add = (n: number): Promise<void> => {
    transaction.begin()
    connection.exec(`insert into rows values (${n})`)
    transaction.commit()
    return transaction.synchronize()
  }
  return { connection, transaction, disk, add, file }
}

const synchronousOf = (connection: DatabaseSync): unknown =>
  connection.prepare('PRAGMA synchronous').get()?.['synchronous']
const full = 2

test('A commit and the reads after it wait until the log is on the disk', async (t) => {
  const { connection, transaction, disk, add, file } = await openWithDisk(t)
  const order: string[] = []
  const committed = add(1).then(() => order.push('committed'))
  const read = transaction.synchronize().then(() => order.push('read'))
  assert.equal(connection.isTransaction, false)
  // The log contains the transaction, so that a killed process has not lost it.
  const other = new DatabaseSync(file)
  assert.deepEqual({ ...other.prepare('select n from rows').get() }, { n: 1 })
  other.close()
  await new Promise(setImmediate)
  assert.deepEqual(order, [])
  disk[0]?.resolve()
  await Promise.all([committed, read])
  assert.deepEqual(order, ['committed', 'read'])
  assert.equal(synchronousOf(connection), full, 'other transactions wait for the disk themselves')
})

test('After the disk has failed, no later commit succeeds', async (t) => {
  const { connection, transaction, disk, add } = await openWithDisk(t)
  const committed = add(1)
  disk[0]?.reject(new Error('EIO'))
  await assert.rejects(committed, /EIO/u)
  await assert.rejects(transaction.synchronize(), /EIO/u)
  assert.throws(() => transaction.begin(), /restart the service/u)
  assert.equal(connection.isTransaction, false)
})

test('A transaction that is rolled back leaves the setting of other transactions', async (t) => {
  const { connection, transaction } = await openWithDisk(t)
  transaction.begin()
  connection.exec('insert into rows values (1)')
  transaction.rollback()
  assert.equal(synchronousOf(connection), full)
  assert.equal(connection.prepare('select count(*) as n from rows').get()?.['n'], 0)
})
