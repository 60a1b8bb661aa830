/**
 * Measures what 10,000 visitors add to a call of svc.identify that matches no subject: two projects, of
 * which one stores unknown people, receive the same pictures in turn.
 *
 *   node eval/visitors/measure-cost.ts [visitors, 10000] [calls, 300]
 *
 * The vision client is a fake, so that only search and database take time. The database is SQLite in
 * memory (`/dev/shm`) if `TMPDIR` is not set.
 */
import path from 'node:path'
import { markdownTable } from '../../bench/support/table.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { storeFaces } from '../../test/support/bulk/store-faces.ts'
import { fakeTemplate } from '../../test/support/gallery/fake-vision.ts'
import { imageParams, startGallery } from '../../test/support/gallery/test-gallery.ts'

const [visitorsText = '10000', callsText = '300'] = process.argv.slice(2)
const count = Number(visitorsText)

await using gallery = await startGallery({ environment: { LOG_LEVEL: 'error' } })
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

async function timeCall(client: typeof on, picture: object): Promise<number> {
  const startMs = performance.now()
  await client.value('svc.identify', picture)
  return performance.now() - startMs
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const pictures: Readonly<Record<string, (call: number) => object>> = {
  'returning visitor': (call) =>
    imageParams({ name: `visitor ${(call * 37) % count}`, deviation: 0.3, take: call }),
  'new visitor': (call) => imageParams({ name: `new ${call}`, deviation: 0.3 }),
}
const rows: string[][] = []
for (const [kind, pictureOf] of Object.entries(pictures)) {
  const times: { off: number; on: number }[] = []
  for (let call = 0; call < Number(callsText) + 20; call++) {
    const picture = pictureOf(call)
    times.push({ off: await timeCall(off, picture), on: await timeCall(on, picture) })
  }
  const measured = times.slice(20)
  const [without, withVisitors] = [
    median(measured.map((one) => one.off)),
    median(measured.map((one) => one.on)),
  ]
  const added = median(measured.map((one) => one.on - one.off))
  rows.push([kind, ...[without, withVisitors, added].map((ms) => ms.toFixed(2))])
}
console.log(
  markdownTable([`${count} visitors`, 'off, ms', 'on, ms', 'added, median of pairs, ms'], rows),
)
