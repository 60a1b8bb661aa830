import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import { HttpError } from '../../src/lib/errors.ts'
import { createLog } from '../../src/lib/log.ts'
import { faultOf } from '../../src/store/postgres/connection/fault.ts'
import { startFacegate } from '../support/facegate/test-facegate.ts'

const detail = 'The database is damaged. Its operator must restore an intact copy.'

/** Overwrites the first pages of a table and its indexes of a running service, as a failing disk does. */
async function damage(dataDir: string, table: string): Promise<void> {
  const name = path.join(dataDir, 'facegate.db')
  using database = new DatabaseSync(name)
  database.exec('pragma wal_checkpoint(truncate)')
  const bytes = Number(database.prepare('pragma page_size').get()?.['page_size'])
  const select = 'select rootpage from sqlite_schema where tbl_name = ? and rootpage > 0'
  const pages = database.prepare(select).all(table)
  assert.ok(pages.length > 0)
  await using file = await open(name, 'r+')
  for (const { rootpage } of pages)
    await file.write(Buffer.alloc(bytes, 0xff), 0, bytes, (Number(rootpage) - 1) * bytes)
  // A commit of another process makes the service read the pages again.
  database.exec(`pragma user_version = ${Number(pages[0]?.['rootpage'])}`)
}

test('SQLite: damaged pages are named in responses, in the log and by /readyz, with the remedy', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  await using facegate = await startFacegate({ DATABASE_URL: '' }, log)
  const { url, key, dataDir } = facegate
  const send = async (target: string) => {
    const response = await fetch(`${url}${target}`, { headers: { 'x-api-key': key } })
    return [response.status, ((await response.json()) as { readonly detail?: string }).detail]
  }
  await damage(dataDir, 'projects')
  assert.deepEqual(await send('/v1/me'), [503, detail])
  // The sweep may have read the table before the call, and logs an error.
  const logged = lines.filter((line) => line.includes('The database is damaged'))
  const ofCall = logged.find((line) => line.includes('"requestId"'))
  assert.match(ofCall ?? '', /"level":"warn".*malformed/u)
  await damage(dataDir, 'accounts')
  const [status, reasons] = await send('/readyz')
  assert.equal(status, 503)
  assert.match(
    String(reasons),
    /the database file is damaged; use an intact copy \(facegate restore\)/u,
  )
})

test('PostgreSQL: the errors of damaged tables and indexes have their cause', () => {
  for (const code of ['XX001', 'XX002']) {
    const error = Object.assign(new DatabaseError('invalid page', 1, 'error'), { code })
    const fault = faultOf(error).error
    assert.ok(fault instanceof HttpError)
    assert.deepEqual([fault.status, fault.message], [503, detail])
  }
})
