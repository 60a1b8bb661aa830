import { setTimeout as sleep } from 'node:timers/promises'
import { fillPeople } from './fill-people.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/** The method, path and body of a request of the console. */
export type ConsoleWrite = readonly [method: string, path: string, body: unknown]

/**
 * Creates a project and calculates the calibration of its gallery. Returns the requests that apply,
 * revert and discard it.
 */
export async function calibrationWrites({
  gallery,
  owner,
}: TestConsole): Promise<readonly ConsoleWrite[]> {
  const { db } = gallery.database.store
  const account = await db.selectFrom('accounts').select('accountId').executeTakeFirstOrThrow()
  const confirm = 'measured'
  const created = await owner.send('POST', '/projects', { name: confirm, galleryMode: 'isolated' })
  const { projectId } = assertOk(created).body
  await fillPeople(gallery, { projectId, ...account }, { count: 200 })
  const path = `/projects/${projectId}/calibration`
  const started = await owner.send('POST', `${path}/measurement`, { samePerson: [] })
  const { measurementId } = assertOk(started).body
  while ((await owner.get(`${path}/measurement`)).body.state === 'running') await sleep(50)
  return [
    ['POST', `${path}/apply`, { measurementId, confirm }],
    ['POST', `${path}/revert`, { confirm }],
    ['DELETE', `${path}/measurement`, undefined],
  ]
}
