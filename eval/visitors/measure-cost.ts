/**
 * Measures what 10,000 visitors add to a call of svc.identify that matches no subject: two projects, of
 * which one stores unknown people, receive the same pictures in turn.
 *
 *   node eval/visitors/measure-cost.ts [visitors, 10000] [calls, 300] [sqlite | postgres, sqlite]
 *
 * The vision client is a fake, so that only search and database take time. `postgres` starts a
 * temporary PostgreSQL whose commits wait for the disk, with the search in memory.
 */
import path from 'node:path'
import { Client } from 'pg'
import { markdownTable } from '../../bench/support/table.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { storeFaces } from '../../test/support/bulk/store-faces.ts'
import { startPostgresCluster } from '../../test/support/database/postgres-server.ts'
import { fakeTemplate } from '../../test/support/gallery/fake-vision.ts'
import { imageParams, startGallery } from '../../test/support/gallery/test-gallery.ts'

const [visitorsText = '10000', callsText = '300', engine = 'sqlite'] = process.argv.slice(2)
const count = Number(visitorsText)
if (engine !== 'sqlite' && engine !== 'postgres')
  throw new Error(`the engine must be sqlite or postgres, not ${engine}`)

await using opened = new AsyncDisposableStack()
const cluster = engine === 'postgres' ? opened.use(await startPostgresCluster()) : undefined
const DATABASE_URL = cluster ? opened.use(await cluster.createDatabase()).url : ''
const environment = { LOG_LEVEL: 'error', DATABASE_URL }
const gallery = opened.use(await startGallery({ environment }))
const { store } = gallery.database
const off = await gallery.createProjectClient({ galleryMode: 'isolated' })
const on = await gallery.createProjectClient({ galleryMode: 'isolated' })
const { projectId, accountId } = on.project
await updateProject(store.db, projectId, { switches: { unknownPeople: true } })
const galleryId = `${projectId}:visitors`
const masterKeyFile = path.join(gallery.dataDir, 'master.key')
const owner = { galleryId, accountId, projectId }
const templateAt = (index: number) => fakeTemplate({ name: `visitor ${index}` }, 'people@1')
await storeFaces({ store, masterKeyFile, owner }, { count, templateAt })
await store.db.updateTable('subjects').set({ visitCount: 1 }).execute()

let statements = 0
const client: { query: (...args: never) => unknown } = Client.prototype
client.query = new Proxy(client.query, {
  apply: (query, connection, args) => {
    statements++
    return Reflect.apply(query, connection, args)
  },
})

/** Sends a call. @returns its duration, and the statements that PostgreSQL receives meanwhile. */
async function measureCall(client: typeof on, picture: object) {
  const startMs = performance.now()
  const before = statements
  await client.value('svc.identify', picture)
  return { ms: performance.now() - startMs, statements: statements - before }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const pictures: Readonly<Record<string, (call: number) => object>> = {
  'returning visitor': (call) =>
    imageParams({ name: `visitor ${(call * 37) % count}`, deviation: 0.3, take: call }),
  'new visitor': (call) => imageParams({ name: `new ${call}`, deviation: 0.3 }),
}
const warmUpCalls = 20
const rows: string[][] = []
for (const [kind, pictureOf] of Object.entries(pictures)) {
  const pairs = []
  for (let call = 0; call < Number(callsText) + warmUpCalls; call++) {
    const picture = pictureOf(call)
    pairs.push({ off: await measureCall(off, picture), on: await measureCall(on, picture) })
  }
  const measured = pairs.slice(warmUpCalls)
  const columns = [
    median(measured.map((pair) => pair.off.ms)),
    median(measured.map((pair) => pair.on.ms)),
    median(measured.map((pair) => pair.on.ms - pair.off.ms)),
  ].map((ms) => ms.toFixed(2))
  const added = median(measured.map((pair) => pair.on.statements - pair.off.statements))
  rows.push([kind, ...columns, ...(cluster ? [String(added)] : [])])
}
const titles = ['off, ms', 'on, ms', 'added, median of pairs, ms']
const head = [`${count} visitors, ${engine}`, ...titles, ...(cluster ? ['statements added'] : [])]
console.log(markdownTable(head, rows))
